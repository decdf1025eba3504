package pgcuckoo;

/** A key is not of the key type of the filter, or of other keys. */
public final class KeyTypeException extends IllegalArgumentException {
  private static final long serialVersionUID = 1;

  KeyTypeException(String message) {
    super(message);
  }
}
