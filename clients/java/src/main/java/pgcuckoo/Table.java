package pgcuckoo;

/** A table in a filter's bytes, sparse or dense. */
abstract sealed class Table permits SparseTable, DenseTable {
  static final int MAX_COPIES = 8; // of a class

  final Shape shape;
  final long items;
  final byte[] data; // of the filter, with at least 8 bytes behind the table
  final int at; // the table's first byte

  Table(Shape shape, long items, byte[] data, int at) {
    this.shape = shape;
    this.items = items;
    this.data = data;
    this.at = at;
  }

  /** The table's bytes, which follow from shape and items. */
  abstract long size();

  /** The copies of a code, 0 to 8. */
  abstract int count(long code);

  /** Throws FormatException unless the bytes are as they must be. */
  abstract void validate();
}
