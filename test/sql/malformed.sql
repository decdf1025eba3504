-- Malformed values: for each rule of docs/format.md a value that breaks it, and for the
-- text form
--
-- test/clients/compare.py has thousands of altered filters, of which the server takes those
-- that the packages take, and test/fuzz what the core makes of what it takes.
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`
\pset tuples_only on
\pset fieldsep '\n  -> '
\set lines `cat "$PG_ABS_SRCDIR/golden/malformed.tsv"`
SELECT split_part(line, E'\t', 1), outcome(format('SELECT %L::bytea::cuckoofilter', '\x' || split_part(line, E'\t', 2)))
FROM regexp_split_to_table(:'lines', '\n') WITH ORDINALITY AS x (line, number) WHERE number > 1 ORDER BY number;
SELECT value, outcome(format('SELECT %L::cuckoofilter', value)) FROM unnest(ARRAY['', '?', 'AQ', 'AQAA AAAA', '\x0100', 'Ag==', 'Dw==', '/w==']) AS value;
