-- Makes the tables of follow.sql: one untouched, one with a B-tree, one
-- followed, all empty, and one with a million rows to put into them.

CREATE EXTENSION cuckoo_follow;
CREATE TABLE untouched (id bigint, k bigint, note text);
CREATE TABLE btree (LIKE untouched);
CREATE INDEX ON btree (k);
CREATE TABLE followed (LIKE untouched);
SELECT cuckoo_follow('followed', 'k');
CREATE TABLE source AS SELECT i AS id, hashint8extended(i, 0) AS k, 'note ' || i AS note FROM generate_series(1, 1000000) AS i;

CREATE PROCEDURE insert_rows(into_table regclass, n integer) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1..n LOOP
		EXECUTE format('INSERT INTO %s VALUES ($1, hashint8extended($1, 1), $2)', into_table) USING i, 'note';
	END LOOP;
END $$;

-- The WAL of a row inserted by a statement of its own, beyond that of the table
CREATE FUNCTION followed_wal(OUT "WAL per followed row, bytes" numeric) LANGUAGE plpgsql AS $$
DECLARE
	lsn pg_lsn := pg_current_wal_insert_lsn();
	wal numeric;
BEGIN
	CALL insert_rows('untouched', 10000);
	wal := pg_current_wal_insert_lsn() - lsn;
	lsn := pg_current_wal_insert_lsn();
	CALL insert_rows('followed', 10000);
	"WAL per followed row, bytes" := ((pg_current_wal_insert_lsn() - lsn) - wal) / 10000;
END $$;
