"""Key types, canonical bytes and hashes of keys: see "Keys" in docs/format.md.

Key types.  A key type is the name of a scalar one, or a pair of a word and what is inside:

    ('array', element)               ('range', bound)          ('multirange', bound)
    ('composite', (column, ...))     'record', an anonymous row that brings its own types

Some types in SQL are of the same key type, and their names will do, too:

    integer                          smallint, int2, int, int4, bigint, int8, oid
    text                             varchar, character varying, name
    bit                              varbit, bit varying
    inet                             cidr
    boolean, double precision        bool, float8
    numeric                          decimal
    time, timetz                     time without time zone, time with time zone
    timestamp, timestamptz           timestamp without time zone, timestamp with time zone

real and char(n) are missing: round keys of real first, for double precision, and remove the blanks
at the end of keys of char(n), for text.

Keys.  What a Python value of each key type may be:

    integer, money                   int of 64 bits, signed; of money the smallest unit
    boolean                          bool
    "char"                           str or bytes of at most one byte
    text, enum                       str, or bytes taken as they are; of char(n) without the
                                     blanks at its end
    bytea                            bytes, bytearray, memoryview, or str such as \\x00ff
    bit                              str of 0 and 1
    double precision                 float
    numeric                          Decimal, int or str
    uuid                             UUID or str
    date                             date, or str: 2026-01-31, [-]infinity; or int: days since
                                     2000-01-01
    time                             time, or str: 13:14, 13:14:15.5, 24:00; or int: microseconds
                                     since midnight
    timetz                           time with an offset, or str: 13:14:15+02; or (microseconds
                                     since midnight, seconds west of UTC)
    timestamp, timestamptz           datetime, or str: 2026-01-31 13:14:15, [-]infinity; or int:
                                     microseconds since 2000-01-01.  Without a time zone for
                                     timestamp, with one for timestamptz
    interval                         timedelta, or (months, days, microseconds)
    inet                             an address, interface or network of ipaddress, or str
    macaddr, macaddr8                str
    pg_lsn                           int of 64 bits, unsigned; or str, such as 16/B374D848
    xid8                             int of 64 bits, unsigned; or str of digits
    jsonb                            str: JSON
    array                            list of elements, with the lower bound 1; or a dictionary of
                                     'bounds', pairs of length and lower bound, and 'elements'
    composite                        list of columns
    record                           list of pairs: (key type, value)
    range                            'empty', or (lower, upper, '[)'), with None for no bound; or
                                     a Range of psycopg or asyncpg
    multirange                       list of ranges, or a Multirange of psycopg

A tuple will do for a list.  None is a NULL inside an array or row, and is no key.  Ranges and
multiranges must be in PostgreSQL's canonical form: whether a range type is discrete does not follow
from its key type.  Refused are ranges that no type can have, with the lower bound above the upper,
or with equal bounds of which one is excluded, and multiranges whose ranges do not ascend with gaps
between them.  (For text and some other bounds only equality is known here, not the order.)
"""

from __future__ import annotations

import ipaddress
import json
import math
import re
import struct
from collections.abc import Sequence as SequenceType
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal, InvalidOperation
from typing import Any, Callable, Dict, List, NamedTuple, Sequence, Tuple, Union
from uuid import UUID

from xxhash import xxh3_64_intdigest

from .errors import KeyTypeError, KeyValueError

KeyType = Union[str, Tuple[str, Any]]

# Key types made of parts, and their numbers
NESTED = {'array': 24, 'composite': 25, 'range': 26, 'multirange': 27}
ARRAY, COMPOSITE, MULTIRANGE = NESTED['array'], NESTED['composite'], NESTED['multirange']
RECORD_WITHOUT_VALUE = bytes((COMPOSITE, 255, 255))
NULL = b'\xff\xff\xff\xff'

KEY_TYPE_FACTOR = 0x9E3779B97F4A7C15
SHARD_SEED = 0x243F6A8885A308D3
M32, M64 = 2**32 - 1, 2**64 - 1
DAY = 86400 * 10**6                         # in microseconds
MAX_SCALE = 16383                           # digits after the point that PostgreSQL takes


# ----------------------------------------------------------------- key types

def number_of(key_type: KeyType) -> int:
    """The number of a key type in the format."""
    if key_type == 'record':
        return COMPOSITE
    if isinstance(key_type, str):
        scalar = SCALARS.get(ALIASES.get(key_type, key_type))
        if scalar:
            return scalar.number
    elif isinstance(key_type, tuple) and len(key_type) == 2 and isinstance(key_type[0], str):
        number = NESTED.get(key_type[0])
        if number and (number != COMPOSITE or isinstance(key_type[1], (list, tuple))):
            return number
    raise KeyTypeError(
        "no key type: %r; there are %s, record, and pairs such as ('array', 'integer') of array, "
        'composite, range or multirange; also names in SQL: %s' % (
            key_type, ', '.join(SCALARS), ', '.join(ALIASES)))


def is_nested(number: int) -> bool:
    """Whether keys of this key type have a signature."""
    return ARRAY <= number <= MULTIRANGE


def sequence(value: Any, name: str) -> Sequence[Any]:
    """The value, if it is a list or a tuple; KeyValueError otherwise."""
    if not isinstance(value, (list, tuple)):
        raise KeyValueError('%s: %r is not a list' % (name, value))
    return value


def parts(value: Any, count: int, name: str) -> Sequence[Any]:
    """The value, if it is a list or a tuple of so many."""
    if len(sequence(value, name)) != count:
        raise KeyValueError('%s: %r does not have %d parts' % (name, value, count))
    return value  # type: ignore[no-any-return]


def array_parts(value: Any) -> Tuple[List[Sequence[Any]], Sequence[Any]]:
    """(bounds, elements) of an array value; bounds are pairs of length and lower bound."""
    if not isinstance(value, dict):
        elements = sequence(value, 'array')
        return ([(len(elements), 1)] if elements else []), elements
    if set(value) != {'bounds', 'elements'}:
        raise KeyValueError('array: %r' % (value,))
    return ([parts(pair, 2, 'array') for pair in sequence(value['bounds'], 'array')],
            sequence(value['elements'], 'array'))


def record_parts(value: Any) -> Tuple[List[KeyType], List[Any]]:
    """(key types, values) of the columns of an anonymous record."""
    pairs = [parts(pair, 2, 'record') for pair in sequence(value, 'record')]
    return [key_type for key_type, _ in pairs], [inside for _, inside in pairs]


def check_columns(columns: Sequence[KeyType], values: Any) -> None:
    if len(columns) != len(sequence(values, 'row')):
        raise KeyValueError('a row of %d columns with %d values' % (len(columns), len(values)))


def description(key_type: KeyType, value: Any = None) -> bytes:
    """The bytes that the signature is made from; anonymous records are described by the value."""
    number = number_of(key_type)
    if key_type == 'record':
        if value is None:
            return RECORD_WITHOUT_VALUE
        return describe_columns(*record_parts(value))
    if not is_nested(number):
        return bytes((number,))
    inside = key_type[1]
    if number == COMPOSITE:
        return describe_columns(inside, value if value is not None else [None] * len(inside))
    first = None
    if number == ARRAY and value is not None:
        first = next((one for one in array_parts(value)[1] if one is not None), None)
    return bytes((number,)) + description(inside, first)


def describe_columns(columns: Sequence[KeyType], values: Any) -> bytes:
    check_columns(columns, values)
    return struct.pack('<BH', COMPOSITE, len(columns)) + b''.join(map(description, columns, values))


def signature(key_type: KeyType, value: Any = None) -> int:
    """32 bits; 0 for scalar keys and jsonb, and never 0 for others."""
    if not is_nested(number_of(key_type)):
        return 0
    return xxh3_64_intdigest(description(key_type, value)) & M32 or 1


# ----------------------------------------------------------- canonical bytes

def wrong_type(name: str, value: Any, expected: str) -> KeyValueError:
    """The error for a value such as an integer of numpy, which can look like an int."""
    found = ('%s.%s' % (type(value).__module__, type(value).__name__)).removeprefix('builtins.')
    return KeyValueError('%s: %r is of type %s, not %s' % (name, value, found, expected))


def pack_integer(value: Any, format_: str, name: str, expected: str = 'int') -> bytes:
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong_type(name, value, expected)
    try:
        return struct.pack(format_, value)
    except struct.error:
        raise KeyValueError('%s: out of range' % name) from None


def integer_of(format_: str, name: str) -> Callable[[Any], bytes]:
    return lambda value: pack_integer(value, format_, name)


def boolean_bytes(value: Any) -> bytes:
    if not isinstance(value, bool):
        raise wrong_type('boolean', value, 'bool')
    return bytes((value,))


def text_bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if not isinstance(value, str):
        raise wrong_type('text', value, 'str or bytes')
    if '\0' in value:
        raise KeyValueError('text: %r' % (value,))
    try:
        return value.encode('utf-8')
    except UnicodeEncodeError:
        raise KeyValueError('text: %r is not Unicode' % value) from None


def char_bytes(value: Any) -> bytes:
    data = text_bytes(value) or b'\0'
    if len(data) != 1:
        raise KeyValueError('"char": more than one byte')
    return data


def hex_bytes(pattern: str, value: Any, name: str) -> bytes:
    """The bytes of a str that matches; what is not a hexadecimal digit separates them."""
    if isinstance(value, str) and re.fullmatch(pattern, value):
        digits = re.sub('[^0-9A-Fa-f]', '', value)
        if len(digits) % 2 == 0:
            return bytes.fromhex(digits)
    raise KeyValueError('%s: %r' % (name, value))


def bytea_bytes(value: Any) -> bytes:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    return hex_bytes(r'\\x[0-9A-Fa-f]*', value, 'bytea')


def bit_bytes(value: Any) -> bytes:
    if not isinstance(value, str) or not re.fullmatch('[01]*', value):
        raise KeyValueError('bit: %r' % (value,))
    padded = value + '0' * (-len(value) % 8)
    return struct.pack('<I', len(value)) + bytes(
        int(padded[i:i + 8], 2) for i in range(0, len(padded), 8))


def double_bytes(value: Any) -> bytes:
    if not isinstance(value, float):
        raise wrong_type('double precision', value, 'float')
    if math.isnan(value):
        return struct.pack('<Q', 0x7FF8000000000000)
    return struct.pack('<d', value + 0.0)               # -0 + 0 is 0


NUMBER = re.compile(r'\s*([+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|nan|[+-]?inf(inity)?)\s*',
                    re.ASCII | re.IGNORECASE)


def numeric_bytes(value: Any) -> bytes:
    if isinstance(value, bool) or not isinstance(value, (Decimal, int, str)):
        raise wrong_type('numeric', value, 'Decimal, int or str')
    if isinstance(value, str) and not NUMBER.fullmatch(value):
        raise KeyValueError('numeric: %r' % (value,))
    try:
        number = Decimal(value)
    except InvalidOperation:
        raise KeyValueError('numeric: %r' % (value,)) from None
    if number.is_nan():
        return struct.pack('<Hh', 0xC000, 0)
    if number.is_infinite():
        return struct.pack('<Hh', 0xF000 if number < 0 else 0xD000, 0)
    negative, decimals, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    if exponent < -MAX_SCALE:
        raise KeyValueError('numeric: more than %d digits after the point' % MAX_SCALE)
    text = ''.join(map(str, decimals)) + '0' * (exponent % 4)
    text = '0' * (-len(text) % 4) + text
    digits = [int(text[i:i + 4]) for i in range(0, len(text), 4)]
    weight = len(digits) - 1 + exponent // 4            # of the first digit
    while digits and digits[-1] == 0:
        digits.pop()
    while digits and digits[0] == 0:
        digits.pop(0)
        weight -= 1
    if not digits:
        negative = weight = 0
    if weight >= 2**15:
        raise KeyValueError('numeric: out of range')
    return struct.pack('<Hh%dh' % len(digits), 0x4000 if negative else 0, weight, *digits)


BYTE, WORD = '[0-9A-Fa-f]{2}', '[0-9A-Fa-f]{4}'
UUID_TEXT = '%s(-?%s){7}' % (WORD, WORD)


def uuid_bytes(value: Any) -> bytes:
    if isinstance(value, UUID):
        return value.bytes
    return hex_bytes(r'%s|\{%s\}' % (UUID_TEXT, UUID_TEXT), value, 'uuid')


def mac_of(length: int, name: str) -> Callable[[Any], bytes]:
    pattern = r'%s([:-]?)%s(\1%s){%d}|%s(\.%s){%d}' % (
        BYTE, BYTE, BYTE, length - 2, WORD, WORD, length // 2 - 1)
    return lambda value: hex_bytes(pattern, value, name)


# datetime takes more, such as 13:14.5 or seven digits, which PostgreSQL reads otherwise.
DATE = r'\d{4}-\d\d-\d\d'
TIME = r'([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6})?)?'
ZONE = r'(Z|[+-](0\d|1[0-5])(:[0-5]\d(:[0-5]\d)?)?)'


def from_iso(pattern: str, parse: Callable[[str], Any], value: str, name: str) -> Any:
    if not re.fullmatch(pattern, value, re.ASCII):
        raise KeyValueError('%s: %r' % (name, value))
    try:
        return parse(value)
    except ValueError as error:
        raise KeyValueError('%s: %s' % (name, error)) from None


def date_bytes(value: Any) -> bytes:
    if isinstance(value, str):
        value = {'infinity': 2**31 - 1, '-infinity': -2**31}.get(value) or from_iso(
            DATE, date.fromisoformat, value, 'date')
    if isinstance(value, date) and not isinstance(value, datetime):
        value = (value - date(2000, 1, 1)).days
    return pack_integer(value, '<i', 'date', 'date, str or int')


def microseconds(interval: timedelta) -> int:
    return interval // timedelta(microseconds=1)


def since_midnight(value: time) -> int:
    return ((value.hour * 60 + value.minute) * 60 + value.second) * 10**6 + value.microsecond


def time_bytes(value: Any) -> bytes:
    if isinstance(value, str):
        value = DAY if re.fullmatch('24:00(:00)?', value) else from_iso(
            TIME, time.fromisoformat, value, 'time')
    if isinstance(value, time):
        if value.tzinfo is not None:
            raise KeyValueError('time: %s has a time zone' % value)
        value = since_midnight(value)
    return pack_integer(value, '<q', 'time', 'time, str or int')


def timetz_bytes(value: Any) -> bytes:
    if isinstance(value, str):
        value = from_iso(TIME + ZONE, time.fromisoformat, value, 'timetz')
    if isinstance(value, time):
        offset = value.utcoffset()
        if offset is None or offset.microseconds:
            raise KeyValueError('timetz: %s has no offset in seconds' % value)
        value = since_midnight(value), -microseconds(offset) // 10**6
    local, west = parts(value, 2, 'timetz')
    return pack_integer(local, '<q', 'timetz') + pack_integer(west, '<i', 'timetz')


def timestamp_of(name: str, epoch: datetime) -> Callable[[Any], bytes]:
    pattern = '%s[ T]%s%s' % (DATE, TIME, ZONE if epoch.tzinfo else '')

    def timestamp_bytes(value: Any) -> bytes:
        if isinstance(value, str):
            value = {'infinity': 2**63 - 1, '-infinity': -2**63}.get(value) or from_iso(
                pattern, datetime.fromisoformat, value, name)
        if isinstance(value, datetime):
            if (value.utcoffset() is None) != (epoch.tzinfo is None):
                raise KeyValueError('%s: %s has %s time zone' % (
                    name, value, 'no' if epoch.tzinfo else 'a'))
            value = microseconds(value - epoch)
        return pack_integer(value, '<q', name, 'datetime, str or int')
    return timestamp_bytes


def interval_bytes(value: Any) -> bytes:
    if isinstance(value, timedelta):
        value = 0, 0, microseconds(value)
    months, days, rest = parts(value, 3, 'interval')
    for part, format_ in (months, '<i'), (days, '<i'), (rest, '<q'):
        pack_integer(part, format_, 'interval')
    more_days, rest = divmod(rest, DAY)
    return struct.pack('<qq', 30 * months + days + more_days, rest)


IP = (ipaddress.IPv4Address, ipaddress.IPv6Address, ipaddress.IPv4Network, ipaddress.IPv6Network)


def inet_bytes(value: Any) -> bytes:
    if not isinstance(value, (str,) + IP) or not re.fullmatch(
            '[0-9a-fA-F:.]+(/(0|[1-9][0-9]*))?', str(value)):
        raise KeyValueError('inet: %r' % (value,))
    try:
        found = ipaddress.ip_interface(str(value))
    except ValueError as error:
        raise KeyValueError('inet: %s' % error) from None
    return bytes((found.version, found.network.prefixlen)) + found.ip.packed


def pg_lsn_bytes(value: Any) -> bytes:
    if isinstance(value, str):
        found = re.fullmatch('([0-9A-Fa-f]{1,8})/([0-9A-Fa-f]{1,8})', value)
        if not found:
            raise KeyValueError('pg_lsn: %r' % value)
        value = int(found[1], 16) << 32 | int(found[2], 16)
    return pack_integer(value, '<Q', 'pg_lsn')


def xid8_bytes(value: Any) -> bytes:
    # PostgreSQL reads 010 as octal.
    if isinstance(value, str) and re.fullmatch('0|[1-9][0-9]{0,19}', value):
        value = int(value)
    return pack_integer(value, '<Q', 'xid8')


def with_length(data: bytes) -> bytes:
    return struct.pack('<I', len(data)) + data


def refuse_constant(name: str) -> None:
    raise ValueError('%s is not JSON' % name)


def jsonb_bytes(value: Any) -> bytes:
    if not isinstance(value, str):
        raise KeyValueError('jsonb: %r is not JSON text' % (value,))
    try:
        # Numbers must stay exact.
        return json_value_bytes(json.loads(value, parse_int=Decimal, parse_float=Decimal,
                                           parse_constant=refuse_constant))
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise KeyValueError('jsonb: %s' % error) from None


def json_value_bytes(value: Any) -> bytes:
    """Of None, a bool, Decimal, str, list or dictionary of strings and such."""
    if value is None:
        return b'\0'
    if isinstance(value, bool):
        return b'\2' if value else b'\1'
    if isinstance(value, Decimal):
        return b'\3' + with_length(numeric_bytes(value))
    if isinstance(value, str):
        return b'\4' + with_length(text_bytes(value))
    if isinstance(value, list):
        return b'\5' + struct.pack('<I', len(value)) + b''.join(map(json_value_bytes, value))
    pairs = sorted(((text_bytes(key), inside) for key, inside in value.items()),
                   key=lambda pair: (len(pair[0]), pair[0]))
    return b'\6' + struct.pack('<I', len(pairs)) + b''.join(
        with_length(key) + json_value_bytes(inside) for key, inside in pairs)


class Scalar(NamedTuple):
    """A key type that is not made of parts."""

    number: int
    to_bytes: Callable[[Any], bytes]
    # Other names in SQL of types whose values are canonical as they are
    aliases: Tuple[str, ...] = ()
    # The struct format in which bytes are numbers in the order of the values.  Only types whose
    # order does not depend on a collation have one.
    order: str = ''


SCALARS: Dict[str, Scalar] = {
    'integer': Scalar(1, integer_of('<q', 'integer'), (
        'smallint', 'int2', 'int', 'int4', 'bigint', 'int8', 'oid'), '<q'),
    'boolean': Scalar(2, boolean_bytes, ('bool',)),
    '"char"': Scalar(3, char_bytes),
    'text': Scalar(4, text_bytes, ('varchar', 'character varying', 'name')),
    'bytea': Scalar(5, bytea_bytes),
    'bit': Scalar(6, bit_bytes, ('varbit', 'bit varying')),
    'double precision': Scalar(7, double_bytes, ('float8',), '<d'),
    'numeric': Scalar(8, numeric_bytes, ('decimal',)),
    'money': Scalar(9, integer_of('<q', 'money'), (), '<q'),
    'uuid': Scalar(10, uuid_bytes),
    'date': Scalar(11, date_bytes, (), '<i'),
    'time': Scalar(12, time_bytes, ('time without time zone',), '<q'),
    'timetz': Scalar(13, timetz_bytes, ('time with time zone',)),
    'timestamp': Scalar(14, timestamp_of('timestamp', datetime(2000, 1, 1)),
                        ('timestamp without time zone',), '<q'),
    'timestamptz': Scalar(15, timestamp_of('timestamptz', datetime(2000, 1, 1, tzinfo=timezone.utc)),
                          ('timestamp with time zone',), '<q'),
    'interval': Scalar(16, interval_bytes),
    'inet': Scalar(17, inet_bytes, ('cidr',)),
    'macaddr': Scalar(18, mac_of(6, 'macaddr')),
    'macaddr8': Scalar(19, mac_of(8, 'macaddr8')),
    'pg_lsn': Scalar(20, pg_lsn_bytes),
    'xid8': Scalar(21, xid8_bytes),
    'enum': Scalar(22, text_bytes),
    'jsonb': Scalar(23, jsonb_bytes)}
NUMBERS = {**{name: scalar.number for name, scalar in SCALARS.items()}, **NESTED}
NAMES = {number: name for name, number in NUMBERS.items()}
ALIASES = {alias: name for name, scalar in SCALARS.items() for alias in scalar.aliases}


def nested(key_type: KeyType, value: Any) -> bytes:
    """A value inside another, or NULL for None."""
    return NULL if value is None else with_length(canonical_bytes(key_type, value))


def array_bytes(element: KeyType, value: Any) -> bytes:
    bounds, elements = array_parts(value)
    numbers = [pack_integer(number, '<i', 'array') for pair in bounds for number in pair]
    if (math.prod(length for length, _ in bounds) if bounds else 0) != len(elements):
        raise KeyValueError('array: %d elements do not fill the dimensions' % len(elements))
    if any(length < 1 for length, _ in bounds):
        raise KeyValueError('array: a dimension has at least one element')
    return (struct.pack('<BI', number_of(element), len(bounds)) + b''.join(numbers) +
            b''.join(nested(element, inside) for inside in elements))


def row_bytes(columns: Sequence[KeyType], values: Any) -> bytes:
    check_columns(columns, values)
    return struct.pack('<I', len(columns)) + b''.join(
        bytes((number_of(column),)) + nested(column, value)
        for column, value in zip(columns, values))


def rank(bound: KeyType, value: Any) -> Any:
    """What compares as PostgreSQL compares the value, or None if that is not known here."""
    name = NAMES[number_of(bound)]
    if name == 'numeric':
        number = Decimal(value)
        is_nan = number.is_nan()
    elif name in SCALARS and SCALARS[name].order:
        number, = struct.unpack(SCALARS[name].order, canonical_bytes(bound, value))
        is_nan = number != number
    else:
        return None
    return (1, 0) if is_nan else (0, number)            # a NaN is above all others


def can_follow(bound: KeyType, lower: Any, upper: Any, equal: bool) -> bool:
    """Whether one bound can be before another, or the same if equal."""
    if canonical_bytes(bound, lower) == canonical_bytes(bound, upper):
        return equal
    ranks = rank(bound, lower), rank(bound, upper)
    return ranks[0] is None or bool(ranks[0] < ranks[1])


def range_parts(bound: KeyType, value: Any) -> Sequence[Any]:
    """(lower, upper, brackets) of a range, () of an empty one."""
    if hasattr(value, 'isempty'):           # a Range of a driver
        value = 'empty' if value.isempty else (
            value.lower, value.upper, '([' [value.lower_inc] + ')]' [value.upper_inc])
    if isinstance(value, str) and value == 'empty':
        return ()
    lower, upper, brackets = parts(value, 3, 'range')
    if brackets not in ('[]', '[)', '(]', '()'):
        raise KeyValueError('range: %r' % (brackets,))
    if lower is not None and upper is not None and not can_follow(
            bound, lower, upper, brackets == '[]'):
        raise KeyValueError('range: no range has the bounds %r' % (value,))
    return lower, upper, brackets


def range_bytes(bound: KeyType, value: Any) -> bytes:
    """A range from its flags on."""
    if not (found := range_parts(bound, value)):
        return b'\1'
    lower, upper, brackets = found
    flags = (2 if lower is None else 4 if brackets[0] == '[' else 0) + (
        8 if upper is None else 16 if brackets[1] == ']' else 0)
    return bytes((flags,)) + b''.join(
        nested(bound, value) for value in (lower, upper) if value is not None)


def multirange_bytes(bound: KeyType, value: Any) -> bytes:
    if isinstance(value, (str, bytes)) or not isinstance(value, SequenceType):
        raise KeyValueError('multirange: %r is not a list' % (value,))
    ranges = [range_parts(bound, one) for one in value]
    # Between two of them there is a gap, if only of one value.
    if () in ranges or not all(
            one[1] is not None and after[0] is not None and can_follow(
                bound, one[1], after[0], one[2][1] + after[2][0] == ')(')
            for one, after in zip(ranges, ranges[1:])):
        raise KeyValueError('multirange: %r is not in canonical form' % (value,))
    return (struct.pack('<BI', number_of(bound), len(ranges)) +
            b''.join(range_bytes(bound, one) for one in value))


def canonical_bytes(key_type: KeyType, value: Any) -> bytes:
    """The canonical bytes of a key; KeyValueError if the value is not one of the key type."""
    number = number_of(key_type)
    if value is None:
        raise KeyValueError('NULL is no key')
    if isinstance(key_type, str):
        return (row_bytes(*record_parts(value)) if key_type == 'record' else
                SCALARS[NAMES[number]].to_bytes(value))
    kind, inside = key_type
    if kind == 'array':
        return array_bytes(inside, value)
    if kind == 'composite':
        return row_bytes(inside, value)
    if kind == 'range':
        return bytes((number_of(inside),)) + range_bytes(inside, value)
    return multirange_bytes(inside, value)


def hash_key(key_type: KeyType, value: Any, seed: int = 0) -> int:
    """The hash of a key, 64 bits unsigned; seed is 64 bits, signed or unsigned."""
    return xxh3_64_intdigest(canonical_bytes(key_type, value),
                             (seed + number_of(key_type) * KEY_TYPE_FACTOR) & M64)


def shard(key_type: KeyType, value: Any, shards: int) -> int:
    """What cuckoo_shard(value, shards) gives: 0 to shards - 1; shards is 1 to 2^31 - 1."""
    if not 1 <= shards < 2**31:
        raise ValueError('%r shards' % (shards,))
    return ((hash_key(key_type, value, SHARD_SEED) >> 32) * shards) >> 32
