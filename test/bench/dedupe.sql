-- A stream of URLs with duplicates, and ways to remove them.

-- A batch of n rows of a session's stream.  Half of the URLs are new, a quarter
-- are among the first ones, and a quarter are from the batch before the last.

CREATE FUNCTION stream_url(session integer, k bigint) RETURNS text LANGUAGE sql IMMUTABLE
RETURN 'https://www.example.com/' || session || '/articles/' || md5(k::text);

CREATE FUNCTION batch(session integer, known bigint, number bigint, n bigint) RETURNS text[] LANGUAGE sql STABLE
RETURN (SELECT array_agg(stream_url(session, CASE p % 4
	WHEN 0 THEN abs(hashint8extended(p, 1) % known)
	WHEN 2 THEN known + (p - 2 * n + 1) / 2
	ELSE known + p / 2 END)) FROM generate_series(number * n, number * n + n - 1) AS p);

-- A unique B-tree.  Rows are inserted in order, so that sessions cannot deadlock.

CREATE TABLE btree_pages (url text PRIMARY KEY);

CREATE FUNCTION store_btree(urls text[]) RETURNS void LANGUAGE sql
BEGIN ATOMIC
	INSERT INTO btree_pages SELECT DISTINCT url FROM unnest(urls) AS url ORDER BY url ON CONFLICT DO NOTHING;
END;

-- A cuckoo index, as in the guide; each session has a stream of its own.

CREATE TABLE cuckoo_pages (url text);
CREATE INDEX ON cuckoo_pages USING cuckoo (url);

CREATE FUNCTION store_cuckoo(urls text[]) RETURNS void LANGUAGE sql
BEGIN ATOMIC
	INSERT INTO cuckoo_pages SELECT DISTINCT url FROM unnest(urls) AS batch (url)
	WHERE NOT EXISTS (SELECT FROM cuckoo_pages AS p WHERE p.url = batch.url);
END;

-- Fills both with the first URLs of each session, in random order as in a stream

CREATE PROCEDURE begin_stream(sessions integer, known bigint) LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE btree_pages, cuckoo_pages;
	INSERT INTO cuckoo_pages SELECT stream_url(session, k)
	FROM generate_series(0, sessions - 1) AS session, generate_series(0, known - 1) AS k;
	INSERT INTO btree_pages SELECT * FROM cuckoo_pages;
END $$;
