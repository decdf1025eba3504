package pgcuckoo;

/** The bytes are not a valid filter. */
public final class FormatException extends IllegalArgumentException {
  private static final long serialVersionUID = 1;

  FormatException(String message) {
    super(message);
  }

  static void require(boolean condition, String message) {
    if (!condition) {
      throw new FormatException(message);
    }
  }
}
