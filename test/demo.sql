-- Shows the extension at work on real data.  demo.sh runs this script.  The
-- file packages.tsv, in the current folder, has all packages of Debian's index
-- with their sections and homepages.

\set QUIET on
SET client_min_messages = warning;
CREATE EXTENSION cuckoo_index CASCADE;

-- Formats a line of output: what it is about, how much, and a remark.
CREATE FUNCTION line(what text, much text, remark text DEFAULT '') RETURNS text
RETURN rtrim(format('   %s%s  %s', rpad(what, 40), lpad(much, 12), remark));

CREATE FUNCTION line(what text, much bigint, remark text DEFAULT '') RETURNS text
RETURN line(what, to_char(much, 'FM999,999,999'), remark);

CREATE FUNCTION kb(bytes numeric) RETURNS text
RETURN to_char(bytes / 1024, 'FM999,990.0') || ' kB';

CREATE FUNCTION percent(part numeric) RETURNS text
RETURN to_char(100 * part, 'FM990.0000') || ' %';

CREATE FUNCTION ms_since(start timestamptz) RETURNS text
RETURN to_char(1000 * extract(epoch FROM clock_timestamp() - start), 'FM999,990') || ' ms';

SELECT format(E'cuckoo %s on PostgreSQL %s, with the homepages in this machine''s Debian package index',
              extversion, split_part(current_setting('server_version'), ' ', 1))
FROM pg_extension WHERE extname = 'cuckoo';

\echo
\echo '1  Load the index'

CREATE TABLE packages (name text, section text, homepage text);
\copy packages from packages.tsv
CREATE TABLE urls AS SELECT DISTINCT homepage AS url FROM packages WHERE homepage IS NOT NULL;
CREATE UNIQUE INDEX urls_url ON urls (url);
VACUUM ANALYZE;

SELECT line('packages', count(*)) FROM packages;
SELECT line('homepages', count(homepage), 'rows that have one') FROM packages;
SELECT line('distinct URLs', count(*), format('%s of text, %s as a B-tree index',
            kb(sum(octet_length(url))), kb(pg_relation_size('urls_url')))) FROM urls;

\echo
\echo '2  Build one filter of all URLs:  SELECT cuckoo_agg(homepage) FROM packages'

SELECT clock_timestamp() AS start \gset
CREATE TABLE filters AS SELECT 'URLs' AS what, cuckoo_agg(homepage) AS filter FROM packages;
SELECT line('time', ms_since(:'start'), 'for all rows, repeated ones too');

SELECT line('filter of the ' || what, kb(pg_column_size(filter)), format('%s bits per key, %s keys',
            round(8.0 * pg_column_size(filter) / cuckoo_cardinality(filter), 2),
            to_char(cuckoo_cardinality(filter), 'FM999,999,999')))
FROM filters ORDER BY what DESC;

-- Each filter gets the final capacity, so that all combine into one
-- sub-filter.
SELECT 1000 * (1 + count(*) / 1000) AS whole FROM urls \gset

\echo
SELECT format('3  Build one per section:  SELECT section, cuckoo_agg(homepage, %s) ... GROUP BY section', :whole);

SELECT clock_timestamp() AS start \gset
CREATE TABLE sections AS
SELECT section, cuckoo_agg(homepage, :whole) AS filter FROM packages GROUP BY section;
SELECT line('time', ms_since(:'start'), format('for %s sections, each with a capacity of %s keys',
            count(*), to_char(:whole, 'FM999,999'))) FROM sections;

CREATE TABLE section_urls AS SELECT DISTINCT section, homepage AS url FROM packages WHERE homepage IS NOT NULL;
SELECT line(section, kb(pg_column_size(filter)), format('%s URLs, %s bits per key, %s',
            to_char(urls, 'FM999,999'), round(8.0 * pg_column_size(filter) / urls, 2), representation))
FROM (SELECT *, row_number() OVER (ORDER BY urls DESC) AS rank FROM sections, LATERAL (SELECT count(*) AS urls FROM section_urls WHERE section_urls.section = sections.section) AS s) AS s,
    cuckoo_info(filter)
WHERE rank IN (1, 2, 3, 40) ORDER BY rank;
SELECT line('all of them', kb(sum(pg_column_size(filter))), format('%s URLs', to_char((SELECT count(*) FROM section_urls), 'FM999,999')))
FROM sections;

\echo
\echo '4  Combine them:  SELECT cuckoo_union_agg(filter) FROM sections'

SELECT clock_timestamp() AS start \gset
CREATE TABLE combined AS SELECT cuckoo_union_agg(filter) AS filter FROM sections;
SELECT line('time', ms_since(:'start'));
SELECT line('filter of all sections', kb(bytes), format('%s sub-filter, %s, %s of false positives expected',
            subfilters, representation, percent(expected_fpr::numeric)))
FROM combined, cuckoo_info(filter);
SELECT line('URLs not found', count(*), format('of %s', to_char((SELECT count(*) FROM urls), 'FM999,999')))
FROM urls WHERE NOT (SELECT filter FROM combined) @> url;

\echo
\echo '5  Look up known and unknown URLs:  SELECT ... WHERE filter @> url'

-- Unknown URLs are known ones with an ending that makes them unknown.
CREATE TABLE unknown AS
SELECT altered AS url
FROM urls, generate_series(1, 33) AS i, format('%s?%s', url, i) AS altered
WHERE NOT EXISTS (SELECT FROM urls AS known WHERE known.url = altered);

CREATE FUNCTION look_up(fpr float8, OUT filter cuckoofilter, OUT known bigint, OUT unknown bigint) AS $$
BEGIN
    filter := (SELECT cuckoo_agg(url, NULL, fpr) FROM urls);
    SELECT count(*) INTO known FROM urls WHERE filter @> url;
    SELECT count(*) INTO unknown FROM unknown AS u WHERE filter @> u.url;
END $$ LANGUAGE plpgsql;

SELECT count(*) AS known, (SELECT count(*) FROM unknown) AS unknown FROM urls \gset
SELECT clock_timestamp() AS start \gset
CREATE TABLE answers AS
SELECT fpr, a.* FROM unnest(ARRAY[0.01, 0.001, 0.0001]) AS fpr, look_up(fpr) AS a;
SELECT line('lookups', 3 * (:known + :unknown)::bigint, 'in ' || ms_since(:'start'));
SELECT line('known URLs not found', sum(:known - known)::bigint,
            format('of %s, no false negatives', to_char(3 * :known, 'FM999,999,999')))
FROM answers;
SELECT line('false positives, target ' || to_char(100 * fpr, 'FM990.09') || ' %',
            percent(unknown::numeric / :unknown),
            format('%s expected, %s bits per key', percent(cuckoo_fpr(filter)::numeric),
                   round(8.0 * pg_column_size(filter) / :known, 2)))
FROM answers ORDER BY fpr DESC;

\echo
\echo '6  Remove URLs again:  filter - url'

CREATE FUNCTION remove_games(OUT before cuckoofilter, OUT after cuckoofilter) AS $$
DECLARE
    url text;
BEGIN
    before := (SELECT cuckoo_agg(u.url) FROM urls AS u);
    after := before;
    FOR url IN SELECT DISTINCT homepage FROM packages WHERE section = 'games' AND homepage IS NOT NULL LOOP
        after := after - url;
    END LOOP;
END $$ LANGUAGE plpgsql;

CREATE TABLE removal AS SELECT * FROM remove_games();
CREATE TABLE gone AS
SELECT url, EXISTS (SELECT FROM packages WHERE homepage = url AND section = 'games') AS is_gone FROM urls;

SELECT line('removed', cuckoo_cardinality(before) - cuckoo_cardinality(after), 'all URLs of the section games')
FROM removal;
SELECT line(CASE WHEN is_gone THEN 'of these still found' ELSE 'of the others not found' END,
            count(*) FILTER (WHERE is_gone = found),
            CASE WHEN is_gone THEN 'false positives' ELSE format('of %s', to_char(count(*), 'FM999,999,999')) END)
FROM (SELECT is_gone, (SELECT after FROM removal) @> url AS found FROM gone) AS tested
GROUP BY is_gone ORDER BY is_gone DESC;

\echo
\echo '7  Find packages by their URL:  CREATE INDEX ... USING cuckoo'

CREATE INDEX packages_cuckoo ON packages USING cuckoo (homepage);
CREATE INDEX packages_btree ON packages (homepage);
SELECT line('index', kb(pg_relation_size('packages_cuckoo')), format('a B-tree has %s', kb(pg_relation_size('packages_btree'))));
SELECT line('packages not found', cuckoo_index_check('packages_cuckoo'), format('of %s', to_char(count(homepage), 'FM999,999,999')))
FROM packages;
SELECT line('URLs not in its filter', count(*) FILTER (WHERE NOT (SELECT cuckoo_index_filter('packages_cuckoo')) @> url),
            format('of %s', to_char(count(*), 'FM999,999,999')))
FROM urls;
