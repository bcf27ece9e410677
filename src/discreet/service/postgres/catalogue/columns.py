"""The tables of PostgreSQL's catalogue that clients look at, and their columns.

Reference: PostgreSQL 15, chapters 53 (system catalogs), 54 (system views) and 37 (information schema).
"""

from collections.abc import Mapping

#: What a letter after a column's name stands for; a column without one is a text.
LETTERS = {"i": "BIGINT", "o": "BOOLEAN", "r": "DOUBLE", "l": "VARCHAR[]", "t": "VARCHAR"}
#: Tables with rows; all others have none, as there are no indexes, constraints, functions or views.
FILLED = (
    *("pg_attribute", "pg_class", "pg_database", "pg_namespace", "pg_roles", "pg_settings", "pg_tables", "pg_type"),
    *("pg_user", "information_schema.columns", "information_schema.schemata", "information_schema.tables"),
)
#: Columns with the name of a function, which some clients compare with 0.
FUNCTION_COLUMNS = ("typinput", "typoutput", "typreceive", "typsend")
#: Lists of numbers; other lists are of texts.
NUMBER_LISTS = ("polroles", "conkey", "confkey", "indkey")
COLUMNS = """
pg_aggregate = aggfnoid:i aggkind aggnumdirectargs:i aggtransfn:i aggfinalfn:i aggcombinefn:i aggserialfn:i
    aggdeserialfn:i aggmtransfn:i aggminvtransfn:i aggmfinalfn:i aggfinalextra:o aggmfinalextra:o aggfinalmodify
    aggmfinalmodify aggsortop:i aggtranstype:i aggtransspace:i aggmtranstype:i aggmtransspace:i agginitval aggminitval
pg_am = oid:i amname amhandler:i amtype
pg_attrdef = oid:i adrelid:i adnum:i adbin
pg_attribute = attrelid:i attname atttypid:i attstattarget:i attlen:i attnum:i attndims:i attcacheoff:i atttypmod:i
    attbyval:o attalign attstorage attcompression attnotnull:o atthasdef:o atthasmissing:o attidentity attgenerated
    attisdropped:o attislocal:o attinhcount:i attcollation:i attacl:l attoptions:l attfdwoptions:l attmissingval
pg_auth_members = roleid:i member:i grantor:i admin_option:o
pg_cast = oid:i castsource:i casttarget:i castfunc:i castcontext castmethod
pg_class = oid:i relname relnamespace:i reltype:i reloftype:i relowner:i relam:i relfilenode:i reltablespace:i
    relpages:i reltuples:r relallvisible:i reltoastrelid:i relhasindex:o relisshared:o relpersistence relkind relnatts:i
    relchecks:i relhasrules:o relhastriggers:o relhassubclass:o relrowsecurity:o relforcerowsecurity:o relispopulated:o
    relreplident relispartition:o relrewrite:i relfrozenxid:i relminmxid:i relacl:l reloptions:l relpartbound
pg_collation = oid:i collname collnamespace:i collowner:i collprovider collisdeterministic:o collencoding:i
    collcollate collctype colliculocale collversion
pg_constraint = oid:i conname connamespace:i contype condeferrable:o condeferred:o convalidated:o conrelid:i
    contypid:i conindid:i conparentid:i confrelid:i confupdtype confdeltype confmatchtype conislocal:o coninhcount:i
    connoinherit:o conkey:l confkey:l conpfeqop:l conppeqop:l conffeqop:l confdelsetcols:l conexclop:l conbin
pg_conversion = oid:i conname connamespace:i conowner:i conforencoding:i contoencoding:i conproc:i condefault:o
pg_database = oid:i datname datdba:i encoding:i datlocprovider datistemplate:o datallowconn:o datconnlimit:i
    datfrozenxid:i datminmxid:i dattablespace:i datcollate datctype daticulocale datcollversion datacl:l
pg_default_acl = oid:i defaclrole:i defaclnamespace:i defaclobjtype defaclacl:l
pg_depend = classid:i objid:i objsubid:i refclassid:i refobjid:i refobjsubid:i deptype
pg_description = objoid:i classoid:i objsubid:i description
pg_enum = oid:i enumtypid:i enumsortorder:r enumlabel
pg_event_trigger = oid:i evtname evtevent evtowner:i evtfoid:i evtenabled evttags:l
pg_extension = oid:i extname extowner:i extnamespace:i extrelocatable:o extversion extconfig:l extcondition:l
pg_foreign_data_wrapper = oid:i fdwname fdwowner:i fdwhandler:i fdwvalidator:i fdwacl:l fdwoptions:l
pg_foreign_server = oid:i srvname srvowner:i srvfdw:i srvtype srvversion srvacl:l srvoptions:l
pg_foreign_table = ftrelid:i ftserver:i ftoptions:l
pg_index = indexrelid:i indrelid:i indnatts:i indnkeyatts:i indisunique:o indnullsnotdistinct:o indisprimary:o
    indisexclusion:o indimmediate:o indisclustered:o indisvalid:o indcheckxmin:o indisready:o indislive:o
    indisreplident:o indkey:l indcollation:l indclass:l indoption:l indexprs indpred
pg_indexes = schemaname tablename indexname tablespace indexdef
pg_inherits = inhrelid:i inhparent:i inhseqno:i inhdetachpending:o
pg_language = oid:i lanname lanowner:i lanispl:o lanpltrusted:o lanplcallfoid:i laninline:i lanvalidator:i lanacl:l
pg_matviews = schemaname matviewname matviewowner tablespace hasindexes:o ispopulated:o definition
pg_namespace = oid:i nspname nspowner:i nspacl:l
pg_opclass = oid:i opcmethod:i opcname opcnamespace:i opcowner:i opcfamily:i opcintype:i opcdefault:o opckeytype:i
pg_operator = oid:i oprname oprnamespace:i oprowner:i oprkind oprcanmerge:o oprcanhash:o oprleft:i oprright:i
    oprresult:i oprcom:i oprnegate:i oprcode:i oprrest:i oprjoin:i
pg_partitioned_table = partrelid:i partstrat partnatts:i partdefid:i partattrs:l partclass:l partcollation:l
    partexprs
pg_policy = oid:i polname polrelid:i polcmd polpermissive:o polroles:l polqual polwithcheck
pg_proc = oid:i proname pronamespace:i proowner:i prolang:i procost:r prorows:r provariadic:i prosupport:i prokind
    prosecdef:o proleakproof:o proisstrict:o proretset:o provolatile proparallel pronargs:i pronargdefaults:i
    prorettype:i proargtypes:l proallargtypes:l proargmodes:l proargnames:l proargdefaults protrftypes:l prosrc probin
    prosqlbody proconfig:l proacl:l
pg_publication = oid:i pubname pubowner:i puballtables:o pubinsert:o pubupdate:o pubdelete:o pubtruncate:o
    pubviaroot:o
pg_publication_namespace = oid:i pnpubid:i pnnspid:i
pg_publication_rel = oid:i prpubid:i prrelid:i prqual prattrs:l
pg_range = rngtypid:i rngsubtype:i rngmultitypid:i rngcollation:i rngsubopc:i rngcanonical:i rngsubdiff:i
pg_rewrite = oid:i rulename ev_class:i ev_type ev_enabled is_instead:o ev_qual ev_action
pg_roles = rolname rolsuper:o rolinherit:o rolcreaterole:o rolcreatedb:o rolcanlogin:o rolreplication:o
    rolconnlimit:i rolpassword rolvaliduntil rolbypassrls:o rolconfig:l oid:i
pg_sequence = seqrelid:i seqtypid:i seqstart:i seqincrement:i seqmax:i seqmin:i seqcache:i seqcycle:o
pg_sequences = schemaname sequencename sequenceowner data_type:i start_value:i min_value:i max_value:i
    increment_by:i cycle:o cache_size:i last_value:i
pg_settings = name setting unit category short_desc extra_desc context vartype source min_val max_val enumvals:l
    boot_val reset_val sourcefile sourceline:i pending_restart:o
pg_shdescription = objoid:i classoid:i description
pg_stat_user_tables = relid:i schemaname relname seq_scan:i seq_tup_read:i idx_scan:i idx_tup_fetch:i n_tup_ins:i
    n_tup_upd:i n_tup_del:i n_tup_hot_upd:i n_live_tup:i n_dead_tup:i n_mod_since_analyze:i n_ins_since_vacuum:i
    last_vacuum last_autovacuum last_analyze last_autoanalyze vacuum_count:i autovacuum_count:i analyze_count:i
    autoanalyze_count:i
pg_statistic_ext = oid:i stxrelid:i stxname stxnamespace:i stxowner:i stxstattarget:i stxkeys:l stxkind:l stxexprs
pg_tables = schemaname tablename tableowner tablespace hasindexes:o hasrules:o hastriggers:o rowsecurity:o
pg_tablespace = oid:i spcname spcowner:i spcacl:l spcoptions:l
pg_trigger = oid:i tgrelid:i tgparentid:i tgname tgfoid:i tgtype:i tgenabled tgisinternal:o tgconstrrelid:i
    tgconstrindid:i tgconstraint:i tgdeferrable:o tginitdeferred:o tgnargs:i tgattr:l tgargs tgqual tgoldtable
    tgnewtable
pg_ts_config = oid:i cfgname cfgnamespace:i cfgowner:i cfgparser:i
pg_type = oid:i typname typnamespace:i typowner:i typlen:i typbyval:o typtype typcategory typispreferred:o
    typisdefined:o typdelim typrelid:i typsubscript:i typelem:i typarray:i typinput:i typoutput:i typreceive:i typsend:i
    typmodin:i typmodout:i typanalyze:i typalign typstorage typnotnull:o typbasetype:i typtypmod:i typndims:i
    typcollation:i typdefaultbin typdefault typacl:l
pg_user = usename usesysid:i usecreatedb:o usesuper:o userepl:o usebypassrls:o passwd valuntil useconfig:l
pg_user_mapping = oid:i umuser:i umserver:i umoptions:l
pg_views = schemaname viewname viewowner definition
information_schema.check_constraints = constraint_catalog constraint_schema constraint_name check_clause
information_schema.column_privileges = grantor grantee table_catalog table_schema table_name column_name
    privilege_type is_grantable
information_schema.columns = table_catalog table_schema table_name column_name ordinal_position column_default
    is_nullable data_type character_maximum_length character_octet_length numeric_precision numeric_precision_radix
    numeric_scale datetime_precision interval_type interval_precision character_set_catalog character_set_schema
    character_set_name collation_catalog collation_schema collation_name domain_catalog domain_schema domain_name
    udt_catalog udt_schema udt_name scope_catalog scope_schema scope_name maximum_cardinality dtd_identifier
    is_self_referencing is_identity identity_generation identity_start identity_increment identity_maximum
    identity_minimum identity_cycle is_generated generation_expression is_updatable
information_schema.constraint_column_usage = table_catalog table_schema table_name column_name constraint_catalog
    constraint_schema constraint_name
information_schema.domains = domain_catalog domain_schema domain_name data_type character_maximum_length
    character_octet_length character_set_catalog character_set_schema character_set_name collation_catalog
    collation_schema collation_name numeric_precision numeric_precision_radix numeric_scale datetime_precision
    interval_type interval_precision domain_default udt_catalog udt_schema udt_name scope_catalog scope_schema
    scope_name maximum_cardinality dtd_identifier
information_schema.element_types = object_catalog object_schema object_name object_type collection_type_identifier
    data_type character_maximum_length character_octet_length character_set_catalog character_set_schema
    character_set_name collation_catalog collation_schema collation_name numeric_precision numeric_precision_radix
    numeric_scale datetime_precision interval_type interval_precision domain_default udt_catalog udt_schema udt_name
    scope_catalog scope_schema scope_name maximum_cardinality dtd_identifier
information_schema.key_column_usage = constraint_catalog constraint_schema constraint_name table_catalog
    table_schema table_name column_name ordinal_position position_in_unique_constraint
information_schema.parameters = specific_catalog specific_schema specific_name ordinal_position parameter_mode
    is_result as_locator parameter_name data_type character_maximum_length character_octet_length character_set_catalog
    character_set_schema character_set_name collation_catalog collation_schema collation_name numeric_precision
    numeric_precision_radix numeric_scale datetime_precision interval_type interval_precision udt_catalog udt_schema
    udt_name scope_catalog scope_schema scope_name maximum_cardinality dtd_identifier parameter_default
information_schema.referential_constraints = constraint_catalog constraint_schema constraint_name
    unique_constraint_catalog unique_constraint_schema unique_constraint_name match_option update_rule delete_rule
information_schema.role_table_grants = grantor grantee table_catalog table_schema table_name privilege_type
    is_grantable with_hierarchy
information_schema.routines = specific_catalog specific_schema specific_name routine_catalog routine_schema
    routine_name routine_type module_catalog module_schema module_name udt_catalog udt_schema udt_name data_type
    character_maximum_length character_octet_length character_set_catalog character_set_schema character_set_name
    collation_catalog collation_schema collation_name numeric_precision numeric_precision_radix numeric_scale
    datetime_precision interval_type interval_precision type_udt_catalog type_udt_schema type_udt_name scope_catalog
    scope_schema scope_name maximum_cardinality dtd_identifier routine_body routine_definition external_name
    external_language parameter_style is_deterministic sql_data_access is_null_call sql_path schema_level_routine
    max_dynamic_result_sets is_user_defined_cast is_implicitly_invocable security_type to_sql_specific_catalog
    to_sql_specific_schema to_sql_specific_name as_locator created last_altered new_savepoint_level is_udt_dependent
    result_cast_from_data_type result_cast_as_locator result_cast_char_max_length result_cast_char_octet_length
    result_cast_char_set_catalog result_cast_char_set_schema result_cast_char_set_name result_cast_collation_catalog
    result_cast_collation_schema result_cast_collation_name result_cast_numeric_precision
    result_cast_numeric_precision_radix result_cast_numeric_scale result_cast_datetime_precision
    result_cast_interval_type result_cast_interval_precision result_cast_type_udt_catalog result_cast_type_udt_schema
    result_cast_type_udt_name result_cast_scope_catalog result_cast_scope_schema result_cast_scope_name
    result_cast_maximum_cardinality result_cast_dtd_identifier
information_schema.schemata = catalog_name schema_name schema_owner default_character_set_catalog
    default_character_set_schema default_character_set_name sql_path
information_schema.sequences = sequence_catalog sequence_schema sequence_name data_type numeric_precision
    numeric_precision_radix numeric_scale start_value minimum_value maximum_value increment cycle_option
information_schema.table_constraints = constraint_catalog constraint_schema constraint_name table_catalog
    table_schema table_name constraint_type is_deferrable initially_deferred enforced nulls_distinct
information_schema.table_privileges = grantor grantee table_catalog table_schema table_name privilege_type
    is_grantable with_hierarchy
information_schema.tables = table_catalog table_schema table_name table_type self_referencing_column_name
    reference_generation user_defined_type_catalog user_defined_type_schema user_defined_type_name is_insertable_into
    is_typed commit_action
information_schema.triggers = trigger_catalog trigger_schema trigger_name event_manipulation event_object_catalog
    event_object_schema event_object_table action_order action_condition action_statement action_orientation
    action_timing action_reference_old_table action_reference_new_table action_reference_old_row
    action_reference_new_row created
information_schema.views = table_catalog table_schema table_name view_definition check_option is_updatable
    is_insertable_into is_trigger_updatable is_trigger_deletable is_trigger_insertable_into
"""


def read_columns() -> Mapping[str, tuple[tuple[str, str], ...]]:
    """Return the columns of each table, with their types in DuckDB."""
    tables: dict[str, tuple[tuple[str, str], ...]] = {}
    for line in COLUMNS.replace("\n    ", " ").strip().splitlines():
        name, _, columns = line.partition(" = ")
        tables[name] = tuple(_read_column(column) for column in columns.split())
    return tables


def _read_column(text: str) -> tuple[str, str]:
    name, _, letter = text.partition(":")
    if name in NUMBER_LISTS:
        return name, "BIGINT[]"
    return name, "VARCHAR" if name in FUNCTION_COLUMNS else LETTERS[letter or "t"]


TABLES = read_columns()
#: What the columns of the catalogue hold, by name, for parameters that are compared with them.
KINDS = {
    name: {"BIGINT": "integer", "BOOLEAN": "boolean", "DOUBLE": "real"}.get(kind, "text")
    for columns in TABLES.values()
    for name, kind in columns
}
