"""The errors of this package."""


class CuckooFilterError(Exception):
    """What every error of this package is."""


class FormatError(CuckooFilterError, ValueError):
    """The bytes are not a valid filter, or not one that keys can be looked up in."""


class KeyTypeError(CuckooFilterError, TypeError):
    """Not a key type, or not the key type of the filter."""


class KeyValueError(CuckooFilterError, ValueError):
    """The value is not one of its key type."""


def require(condition: bool, message: str, *args: object) -> None:
    """Raises FormatError with the message, which is formatted with the arguments."""
    if not condition:
        raise FormatError(message % args)
