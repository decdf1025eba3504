/*-------------------------------------------------------------------------
 *
 * am.c
 *	  The index access method cuckoo: what PostgreSQL calls.
 *
 *-------------------------------------------------------------------------
 */
#include "index.h"

#include "access/reloptions.h"
#include "commands/progress.h"
#include "commands/vacuum.h"

PGDLLEXPORT Datum cuckoo_index_handler(PG_FUNCTION_ARGS);

static relopt_kind option_kind;

void
CuckooIndexInit(void)
{
	option_kind = add_reloption_kind();
	add_int_reloption(option_kind, "fillfactor", "Load in percent with which the index is built",
					  CUCKOO_INDEX_FILLFACTOR, 10, 100, ShareUpdateExclusiveLock);
	add_real_reloption(option_kind, "capacity", "Rows for which the index is built at least",
					   0, 0, 1e10, ShareUpdateExclusiveLock);
}

static bytea *
cuckoooptions(Datum options, bool validate)
{
	static const relopt_parse_elt elements[] = {
		{.optname = "fillfactor", .opttype = RELOPT_TYPE_INT,
		.offset = offsetof(CuckooIndexOptions, fillfactor)},
		{.optname = "capacity", .opttype = RELOPT_TYPE_REAL,
		.offset = offsetof(CuckooIndexOptions, capacity)}
	};

	return (bytea *) build_reloptions(options, validate, option_kind, sizeof(CuckooIndexOptions),
									  elements, lengthof(elements));
}

static char *
cuckoobuildphasename(int64 phase)
{
	static char *const names[] = {
		[PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE] = "initializing",
		[CUCKOO_PHASE_SCAN] = "scanning table",
		[CUCKOO_PHASE_SORT] = "sorting keys",
		[CUCKOO_PHASE_WRITE] = "writing pages"
	};

	return phase < (int64) lengthof(names) ? names[phase] : NULL;
}

PG_FUNCTION_INFO_V1(cuckoo_index_handler);
Datum
cuckoo_index_handler(PG_FUNCTION_ARGS)
{
	/*
	 * What is not set is off:
	 *
	 *	amsearchnulls, amoptionalkey	a row with a NULL is not in the index, see README
	 *	amsummarizing		HOT updates that change the key would leave chains whose
	 *						older rows an index built anew does not have
	 *	amsearcharray		= ANY (array) is a bitmap scan for each element
	 *	ampredlocks			SERIALIZABLE transactions lock the whole index
	 *	amcaninclude, amcanorder, amclusterable, amcanreturn	it has only hashes
	 */
	static const IndexAmRoutine routine = {
		.type = T_IndexAmRoutine,
		.amstrategies = 1,
		.amsupport = 1,
		CUCKOO_CAN_BE_UNIQUE,
		.amcanmulticol = true,
		.amparallelvacuumoptions = VACUUM_OPTION_PARALLEL_BULKDEL,
		.ambuild = cuckoobuild,
		.ambuildempty = cuckoobuildempty,
		.aminsert = cuckooinsert,
		.ambulkdelete = cuckoobulkdelete,
		.amvacuumcleanup = cuckoovacuumcleanup,
		.amcostestimate = cuckoocostestimate,
		.amoptions = cuckoooptions,
		.ambuildphasename = cuckoobuildphasename,
		.amvalidate = cuckoovalidate,
		.ambeginscan = cuckoobeginscan,
		.amrescan = cuckoorescan,
		.amgettuple = cuckoogettuple,
		.amgetbitmap = cuckoogetbitmap,
		.amendscan = cuckooendscan
	};

	(void) fcinfo;
	if (BLCKSZ != CUCKOO_INDEX_BLCKSZ)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index access method \"cuckoo\" requires pages of %d bytes", CUCKOO_INDEX_BLCKSZ),
				 errdetail("The pages of this server have %d bytes.", BLCKSZ)));
	CUCKOO_RETURN_AM(routine);
}
