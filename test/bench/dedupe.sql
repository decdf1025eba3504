-- A stream of URLs with duplicates, and ways to remove them.  The recipe of the
-- guide has been loaded before: pages, seen, seen_delta, store_new, fold_seen and
-- store_mixed, and again with mixed_ before each name.  This script creates
-- similar functions for the other ways.

-- A batch of n rows of a session's stream.  Half of the URLs are new, a quarter
-- are among the first ones, and a quarter are from the batch before the last.

CREATE FUNCTION stream_url(session integer, k bigint) RETURNS text LANGUAGE sql IMMUTABLE
RETURN 'https://www.example.com/' || session || '/articles/' || md5(k::text);

CREATE FUNCTION batch(session integer, known bigint, number bigint, n bigint) RETURNS text[] LANGUAGE sql STABLE
RETURN (SELECT array_agg(stream_url(session, CASE p % 4
	WHEN 0 THEN abs(hashint8extended(p, 1) % known)
	WHEN 2 THEN known + (p - 2 * n + 1) / 2
	ELSE known + p / 2 END)) FROM generate_series(number * n, number * n + n - 1) AS p);

-- A unique index.  Rows are inserted in order, so that sessions cannot
-- deadlock.

CREATE TABLE indexed_pages (url text PRIMARY KEY);

CREATE FUNCTION store_indexed(urls text[]) RETURNS void LANGUAGE sql
BEGIN ATOMIC
	INSERT INTO indexed_pages SELECT DISTINCT url FROM unnest(urls) AS url ORDER BY url ON CONFLICT DO NOTHING;
END;

-- The same on the hash of the URL.

CREATE TABLE hashed_pages (url text);
CREATE UNIQUE INDEX ON hashed_pages (hashtextextended(url, 0));

CREATE FUNCTION store_hashed(urls text[]) RETURNS void LANGUAGE sql
BEGIN ATOMIC
	INSERT INTO hashed_pages SELECT DISTINCT ON (hashtextextended(url, 0)) url FROM unnest(urls) AS url ORDER BY hashtextextended(url, 0) ON CONFLICT DO NOTHING;
END;

-- One filter, which every batch updates.

CREATE TABLE plain_pages (url text);
CREATE TABLE one_filter (f cuckoofilter NOT NULL);

CREATE FUNCTION store_filtered(urls text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM FROM one_filter FOR UPDATE;
	WITH fresh AS MATERIALIZED (
		SELECT DISTINCT url FROM unnest(urls) AS url WHERE NOT (SELECT f FROM one_filter) @> url
	), stored AS (
		INSERT INTO plain_pages SELECT url FROM fresh
	)
	UPDATE one_filter SET f = cuckoo_add_all(f, ARRAY(SELECT url FROM fresh));
END $$;

-- Fills all with the first URLs of each session.  The URLs are in random
-- order, as in a stream.

CREATE PROCEDURE begin_stream(sessions integer, known bigint) LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE pages, seen, seen_delta, mixed_pages, mixed_seen, mixed_seen_delta, indexed_pages, hashed_pages, plain_pages, one_filter;
	INSERT INTO plain_pages SELECT stream_url(session, k) FROM generate_series(0, sessions - 1) AS session, generate_series(0, known - 1) AS k;
	INSERT INTO pages SELECT * FROM plain_pages;
	INSERT INTO mixed_pages SELECT * FROM plain_pages;
	INSERT INTO indexed_pages SELECT * FROM plain_pages;
	INSERT INTO hashed_pages SELECT * FROM plain_pages;
	INSERT INTO one_filter SELECT cuckoo_agg(url, 4e6, 0.001) FROM plain_pages;
	INSERT INTO seen SELECT session, 0, cuckoo_agg(stream_url(session, k), 4e6, 0.001)
	FROM generate_series(0, sessions - 1) AS session, generate_series(0, known - 1) AS k GROUP BY session;
	INSERT INTO mixed_seen SELECT cuckoo_shard(url, 4), 0, cuckoo_agg(url, 4e6, 0.001) FROM plain_pages GROUP BY 1;
END $$;
