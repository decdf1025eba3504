-- Changes a stored filter.

CREATE TEMP TABLE kept AS SELECT cuckoo_agg(i) AS f FROM generate_series(1, :keys) AS i;

-- @ 100 keys by 100 statements
DO $$ BEGIN FOR i IN 1..100 LOOP UPDATE kept SET f = cuckoo_add(f, -i); END LOOP; END $$;

-- @ 100 keys by one statement
UPDATE kept SET f = cuckoo_add_all(f, ARRAY(SELECT -i FROM generate_series(101, 200) AS i));

-- @ 10,000 keys by one statement
UPDATE kept SET f = cuckoo_add_all(f, ARRAY(SELECT -i FROM generate_series(201, 10200) AS i));
