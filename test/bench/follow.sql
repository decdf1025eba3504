-- Changes and looks up the same table untouched, with a B-tree on the column,
-- and followed.

TRUNCATE untouched, btree, followed; SELECT cuckoo_follow_rebuild('followed_k_filter');

VACUUM followed_k_filter;

CHECKPOINT;

-- @ a million rows at once: untouched
INSERT INTO untouched SELECT * FROM source;

-- @ a million rows at once: followed
INSERT INTO followed SELECT * FROM source;

-- @ a million rows at once: B-tree
INSERT INTO btree SELECT * FROM source;

-- @ 10,000 single inserts: untouched
CALL insert_rows('untouched', 10000);

-- @ 10,000 single inserts: followed
CALL insert_rows('followed', 10000);

-- @ DELETE of 100,000 rows: untouched
DELETE FROM untouched WHERE id <= 100000;

-- @ DELETE of 100,000 rows: followed
DELETE FROM followed WHERE id <= 100000;

-- @ UPDATE of 100,000 keys: untouched
UPDATE untouched SET k = -k WHERE id BETWEEN 100001 AND 200000;

-- @ UPDATE of 100,000 keys: followed
UPDATE followed SET k = -k WHERE id BETWEEN 100001 AND 200000;

SELECT cuckoo_follow_fold('followed_k_filter');

INSERT INTO followed SELECT i, hashint8extended(i, 2) FROM generate_series(1, 100000) AS i;

-- @ a fold of 100,000 changes
SELECT cuckoo_follow_fold('followed_k_filter');

-- @ 100,000 lookups: the loop alone
DO $$ DECLARE b boolean; BEGIN FOR i IN 1..100000 LOOP b := hashint8extended(i, 0) = 0; END LOOP; END $$;

-- @ 100,000 lookups: followed
DO $$ DECLARE b boolean; BEGIN FOR i IN 1..100000 LOOP SELECT cuckoo_follow_contains('followed_k_filter', hashint8extended(i, 0)) INTO b; END LOOP; END $$;

-- @ 100,000 lookups: B-tree
DO $$ DECLARE b boolean; BEGIN FOR i IN 1..100000 LOOP SELECT EXISTS (SELECT FROM btree WHERE k = hashint8extended(i, 0)) INTO b; END LOOP; END $$;
