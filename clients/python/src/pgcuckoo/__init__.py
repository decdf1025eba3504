"""Makes and reads filters of the PostgreSQL extension cuckoo: values of its type cuckoofilter.

    from pgcuckoo import CuckooFilter

    f = CuckooFilter(data)              # SELECT f::bytea ...
    f = CuckooFilter.from_text(text)    # SELECT f ...
    'user42@example.com' in f
    f.contains_each(['a', 'b'])
    f.info()

    f = CuckooFilter.build(['a', 'b'], 'text')
    f.data                              # SELECT $1::bytea::cuckoofilter

Everything follows docs/format.md of the extension.
"""

from .errors import CuckooFilterError, FormatError, KeyTypeError, KeyValueError
from .filter import CuckooFilter, Info
from .keys import KeyType, hash_key, shard

__all__ = ['CuckooFilter', 'CuckooFilterError', 'FormatError', 'Info', 'KeyType', 'KeyTypeError',
           'KeyValueError', 'hash_key', 'shard']
__version__ = '1.0.0'
