/** Makes and reads filters of the PostgreSQL extension cuckoo. */
module pgcuckoo {
  exports pgcuckoo;
}
