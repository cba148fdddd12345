"""The values that functions.py tries: some for each type, and lists for functions whose arguments
have to fit together."""

SKIP_TYPES = set('''point lseg path box polygon line circle money macaddr macaddr8 tsvector tsquery
gtsvector xml internal regconfig regdictionary cstring pg_lsn pg_snapshot txid_snapshot anyrange
anymultirange anycompatiblerange anycompatiblemultirange trigger event_trigger record void any
anyenum numeric date time timestamp timestamptz timetz interval json jsonb jsonpath inet cidr bit
varbit refcursor xid8 regclass regtype regproc regprocedure regoper regoperator regnamespace
regrole regcollation aclitem tid cid xid _cstring _jsonb _interval oidvector int2vector
anycompatiblenonarray anynonarray'''.split())

POLYMORPHIC = {'anyarray': 'array', 'anycompatiblearray': 'array', 'anyelement': 'element',
               'anycompatible': 'element'}

# Functions that look at the session or the catalog, that index methods call, or that are elsewhere.
SKIP_SOURCES = set('''current_database current_user session_user current_schema current_schemas
pg_backend_pid show_config_by_name set_config_by_name show_config_by_name_missing_ok
unicode_normalize_func unicode_is_normalized to_ascii_default to_ascii_enc to_ascii_encname
format_type pg_typeof pg_collation_for pg_column_size pg_column_compression regexp_fixed_prefix
fmgr_internal_validator fmgr_c_validator fmgr_sql_validator amvalidate has_table_privilege
pg_options_to_table pg_settings_get_flags pg_import_system_collations pg_encoding_max_length_sql
int4_to_char int8_to_char float4_to_char float8_to_char pg_identify_object
pg_get_constraintdef pg_get_indexdef setseed obj_description col_description shobj_description
query_to_xml xml_is_well_formed xml_is_well_formed_document xml_is_well_formed_content
float8_avg float8_var_pop float8_var_samp float8_stddev_pop float8_stddev_samp float8_corr
float8_covar_pop float8_covar_samp float8_regr_avgx float8_regr_avgy float8_regr_intercept
float8_regr_r2 float8_regr_slope float8_regr_sxx float8_regr_sxy float8_regr_syy float8_accum
float4_accum float8_combine float8_regr_accum float8_regr_combine int2_avg_accum int4_avg_accum
int2_avg_accum_inv int4_avg_accum_inv int4_avg_combine int2int4_sum int8_avg int2_sum int4_sum
int8_sum int8inc_any int8dec_any int8inc_float8_float8 postgresql_fdw_validator
pg_describe_object satisfies_hash_partition pg_get_viewdef pg_get_expr to_regclass
pg_extension_config_dump pg_notify pg_extension_update_paths binary_upgrade_set_record_init_privs
current_query pg_listening_channels lo_get lo_put lo_from_bytea be_lo_get be_lo_get_fragment
be_lo_put be_lo_from_bytea convert pg_convert length_in_encoding pg_convert_from pg_convert_to
dround_unused textsend bytea_string_agg_finalfn make_date make_time int4range_subdiff
int8range_subdiff PG_char_to_encoding PG_encoding_to_char convert_from convert_to'''.split())

# Beginnings and ends of names of functions that look at the session or the catalog, or that index
# methods and the protocol call.
SKIP_BEGINNINGS = ('pg_stat_', 'pg_get_', 'has_', 'hash', 'bt', 'gin_', 'pg_has_role', 'pg_ts_', 'ts_',
                   'pg_index', 'pg_tablespace', 'pg_replication', 'row_security', 'acldefault', 'int4range',
                   'int8range', 'pg_is_other')
SKIP_ENDS = ('send', 'recv', '_is_visible', '_hash', '_hash_extended')
KEEP = ('btrim',)

INT4 = ['0', '1', '-1', '2', '7', '-7', '12', '100', '2147483647', '-2147483648', '46341']
POOLS = {
    'bool': ['t', 'f'],
    'int2': ['0', '1', '-1', '7', '-3', '181', '32767', '-32768', '15'],
    'int4': INT4,
    'int8': ['0', '1', '-1', '9', '-12', '4294967296', '9223372036854775807',
             '-9223372036854775808', '3037000500', '35'],
    'float4': ['0', '-0', '1', '-1.5', '2.5', '1e38', '-1e-38', '3.14159', 'NaN', 'Infinity',
               '-Infinity', '1e10'],
    'float8': ['0', '-0', '1', '-1', '0.5', '-0.5', '2.5', '3.5', '1e308', '-1e-308', '3.14159',
               'NaN', 'Infinity', '-Infinity', '100.25', '30', '45', '1e20', '0.1', '-2.7'],
    'text': ['', 'a', 'abc', 'ABC def', 'héllo wörld', '日本語', "it's", 'a\\b', '%a_', ' pad ',
             'abcabc', '12', '"q"', 'x,y,,z'],
    'varchar': ['', 'a', 'abc', 'héllo'],
    'bpchar': ['', 'a', 'abc', 'abc  ', 'b'],
    'name': ['', 'a', 'abc', 'Abc_1', 'x' * 70],
    'char': ['', 'a', 'b', 'Z', '1'],
    'bytea': ['', '\\x00', '\\x616263', '\\xff00fe', '\\x5c', '\\x6162630a6162'],
    'oid': ['0', '1', '26', '4294967295', '16384'],
    'uuid': ['00000000-0000-0000-0000-000000000000', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
             'ffffffff-ffff-ffff-ffff-ffffffffffff', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12'],
    'numeric': ['0', '1.50', '-2', 'NaN', '3.14', '12345678901234567890'],
    '_int4': ['{}', '{1,2,3}', '{1,NULL,3}', '[0:1]={5,7}', '{{1,2},{3,4}}', '{1}', '{2,1}'],
    '_text': ['{}', '{a,b}', '{a,NULL,"x y",""}', '{{a,b},{c,d}}', '{abc}', '{a}'],
    '_numeric': ['{}', '{1.50,2}', '{1.5,NULL}', '{NaN,0}', '{3.14}'],
    '_float8': ['{}', '{1,2.5}', '{0.5,NULL,Infinity}', '{-1,0,1,2}'],
    '_bool': ['{}', '{t,f}', '{NULL,t}'],
    '_name': ['{}', '{a,b}'],
}

TEXT = 'text'
PATTERNS = ['a', 'a|ab', '(a|ab)(c|bcd)(d*)', 'a*', '(a*)+', '(a*)*', 'x*', '^', '$', '', '.', '.+?', 'b+',
            '[[:alpha:]]+', '[^a-c]+', '\\d+', '\\D+', '\\w+', '\\s', '\\mabc\\M', '\\yb', '\\Ya', '\\Aa',
            'c\\Z', '(.)\\1', '(?i)ABC', '(?:a|b)+', 'a{2}', 'a{1,2}?', '(a{1,2}?)(b*)', 'a**', '(', ')',
            '[a', 'a{1', 'a{2,1}', '*a', '\\', 'a|', '(?=b)', 'a(?!b)', '[[:foo:]]', '[z-a]', '\\2',
            'a{256}', '***=a.b', '***:a.b', '(?x) a b # c', '[]a]+', '[a-]', '(?q)a.b', '\\u0061', '\\x61',
            'x{,2}', '{', 'a{x', '((a)(b)?)*', '(a)|(b)', 'a.*b', 'a.*?b', '(a.*?)(b.*)', '[[.a.]]', '[\\w]+', '日.',
            'é', '(?s).', '(?n)^b', '^(a+)(a*)$', '(^a)', '\\.', '[.]', 'a\\b', '(?#c)a', '(?:)', '()']
SUBJECTS = ['abc', 'abcd', 'aab', '', 'xabcy abc', 'foo bar', 'ab\nba', '日本語é', 'aaaa', 'a.b', 'x1y22z333', 'b']

REPEATS = ['()*', '(^)*', '(|a)*', '(|a)+', '(?:)+', '(?:)*a', '($|a)*', '(^a|b)*', '(a)??', '(a?)??', '(a+)+', '(a+)*', '(a*)*', '(a*)?', '(a)?', '(a*){0,3}', '(a*){2}', '(a|ab|b)*', '(a|ab|b)+', '(a|ab|b){2,3}', '(a|ab|b){0,3}',
           '(a??)*', '(a+?)*', '(a+?)+', '(a+?)+?', '(a+)+?', '(a+)*?', '((a*)(b*))*', '((a*)(b*))+', '(.*)*', '(.*)+', '(.{1,2})*', '(.{1,2})+',
           '(.{1,2}){2,}', '(.{1,2}){3}', '(a|(b))*', '(a|(b))+', '(a|(b)){2}', '((a)|(b))*', '(a|b)*?b', '(a*?)(b*)', '(a*)(b*?)', '(?:a*?){1,1}(b*)',
           '(a*){1,1}?(b*)', '(a|ab)(bab|b)?', '(ab?)(b?a)?(b*)', '^(.*?)(b|$)', '(.+)(b+)', '(.+?)(b+)', '(.+?)(b+?)', '.*?(b).*', '((.)(.))+', '(?:\\Y)*(a)', '(a|ab)(?=b|$)', '(?!b)(.+?)(?=b|$)', '(?<=a)(b+)', '(?<!a)(b|.)', '(?:(?=a))*.', '(?!(\\m)??b)(a|b)']

def pairs(first, second):
    return [[a, b] for b in second for a in first]

REGEX = pairs(['abcd', 'xaab abc', ''], PATTERNS) + pairs(SUBJECTS, ['a|ab', '(a*)(ab)*(b*)', '\\w+', '(.)(.)?', 'a*', '[0-9]+'])

CASES = [
    ('textregexeq', [TEXT, TEXT], REGEX),
    ('texticregexeq', [TEXT, TEXT], pairs(['ABC', 'abc', 'É'], ['abc', 'A', '[a-z]+', '[[:upper:]]', 'é', '[^A]'])),
    ('regexp_match', [TEXT, TEXT], REGEX + pairs(['aaa', 'abab', 'b', 'abcde', 'ba', ''], REPEATS)),
    ('regexp_match', [TEXT, TEXT, TEXT], [['abc', 'B', f] for f in ['', 'i', 'g', 'z', 'x', 'q', 'n', 'p', 'w', 's', 'ic', 'ci', 't', 'm', 'e']]
        + [['a\nb', p, f] for p in ['^b', 'a.b', 'a$', '[^a]+', 'A'] for f in ['n', 'p', 'w', 's', 'i']]),
    ('regexp_matches', [TEXT, TEXT, TEXT], [[s, p, 'g'] for s, p in pairs(['abcd', 'xaab abc', '', 'aaa', '日本語'], ['a', 'a*', 'b*', 'a|ab', '(a)(b)?', '.', '', '^', '$', '\\m', '\\y', 'x'])]),
    ('regexp_matches', [TEXT, TEXT], pairs(['abcd', 'xaab abc'], ['a', 'zz', '(b)(c)'])),
    ('regexp_split_to_table', [TEXT, TEXT], pairs(['abc', 'a b  c', '', ' a ', 'a,b,,c'], ['', ' ', ',', '\\s*', '\\s+', 'b', 'x*', '[, ]'])),
    ('regexp_split_to_array', [TEXT, TEXT], pairs(['abc', 'a b  c', '', ' a ', 'a,b,,c'], ['', ' ', ',', '\\s*', '\\s+', 'b', 'x*', 'c$'])),
    ('regexp_split_to_array', [TEXT, TEXT, TEXT], [['aXbxc', 'x', f] for f in ['i', '', 'g', 'z']]),
    ('regexp_replace', [TEXT, TEXT, TEXT], [[s, p, r] for s, p in pairs(['abcd', 'xaab abc', ''], ['a', 'b*', '(a)(b)', 'a|ab', '(x)|(a)', '^', '$', '']) for r in ['Z', '[\\1]', '<\\&>', '\\\\', '\\x', 'a\\', '\\2\\1']]),
    ('regexp_replace', [TEXT, TEXT, TEXT, TEXT], [[s, p, r, f] for s, p in pairs(['abcd abc', 'aaa', ''], ['a', 'b*', '(.)', 'A']) for r in ['Z', '[\\1\\&]'] for f in ['g', 'i', 'gi', '1', 'y']]),
    ('regexp_replace', [TEXT, TEXT, TEXT, 'int4'], [['abcabc', 'b', 'Z', n] for n in ['1', '3', '7', '0', '-1', '20']]),
    ('regexp_replace', [TEXT, TEXT, TEXT, 'int4', 'int4'], [['abcabcabc', 'b', 'Z', a, b] for a in ['1', '3'] for b in ['0', '1', '2', '4', '-1']]),
    ('regexp_replace', [TEXT, TEXT, TEXT, 'int4', 'int4', TEXT], [['abcABC', 'B', 'Z', '1', n, f] for n in ['0', '1', '2'] for f in ['i', 'g', '']]),
    ('regexp_count', [TEXT, TEXT], REGEX[:60]),
    ('regexp_count', [TEXT, TEXT, 'int4'], [['abcabc', 'b', n] for n in ['1', '3', '7', '0', '20']]),
    ('regexp_count', [TEXT, TEXT, 'int4', TEXT], [['abcABC', 'b', n, f] for n in ['1', '3', '0'] for f in ['i', 'g', '']]),
    ('regexp_like', [TEXT, TEXT], REGEX[:30]),
    ('regexp_like', [TEXT, TEXT, TEXT], [['abcABC', 'bA', f] for f in ['i', 'g', '', 'x', 'zz']]),
    ('regexp_instr', [TEXT, TEXT], REGEX[:40]),
    ('regexp_instr', [TEXT, TEXT, 'int4', 'int4', 'int4', TEXT, 'int4'],
        [['abcabcabc', '(b)(c)', s, n, e, '', g] for s in ['1', '0', '4'] for n in ['1', '2', '0', '9'] for e in ['0', '1', '2', '-1'] for g in ['0', '2', '3', '-1']]),
    ('regexp_instr', [TEXT, TEXT, 'int4'], [['abcabc', 'b', s] for s in ['1', '3', '9', '0']]),
    ('regexp_instr', [TEXT, TEXT, 'int4', 'int4'], [['abcabc', 'b', '1', s] for s in ['1', '2', '3', '0']]),
    ('regexp_instr', [TEXT, TEXT, 'int4', 'int4', 'int4'], [['abcabc', 'b', '1', '2', s] for s in ['0', '1', '2']]),
    ('regexp_substr', [TEXT, TEXT], REGEX[:40]),
    ('regexp_substr', [TEXT, TEXT, 'int4', 'int4', TEXT, 'int4'],
        [['abcABCabc', '(b)(c)', s, n, f, g] for s in ['1', '0', '4'] for n in ['1', '2', '0', '9'] for f in ['', 'i', 'g'] for g in ['0', '2', '3', '-1']]),
    ('substring', [TEXT, TEXT], REGEX),
    ('substring', [TEXT, TEXT, TEXT], [['foobar', p, '#'] for p in ['%#"o_b#"%', '#"o_b#"%', '%', '#"%#"', 'foo', '%#"o#"b#"%', 'f%r', '%(b|o)%']] + [['foobar', '%', e] for e in ['', 'ab']]),
    ('similar_to_escape', [TEXT], [[p] for p in ['abc%', 'a_c', '(a|b)*', 'a.b', '[a-z]_', '\\%', 'a\\', '^$', '[\\]]', 'a+b?', '[^%]', 'a{2}', '[]a]%', '[^]a]%', '[[:alpha:]_]%', '[a[b]c]%', '[^^]]%', '[%', '[]', '[^]', '[\\]a]_']]),
    ('similar_to_escape', [TEXT, TEXT], [[p, e] for p in ['abc%', 'a#%b', '#"a#"', 'a.b', '[#]]', '##'] for e in ['#', '', '\\', 'ab']]),
    ('textlike', [TEXT, TEXT], pairs(['abc', '', 'a%c', 'a\\c', 'héé', 'abcabc', 'aXbXc'], ['abc', 'a%', '%c', '_b_', '%', '', '_', 'a\\%c', 'a\\\\c', '\\', 'abc\\', '%\\', '%b%', '__é', 'h%', '%abc', 'a%b%c', '%%', '%_', '_%_', 'a%\\'])),
    ('texticlike', [TEXT, TEXT], pairs(['ABC', 'É', 'aBc'], ['abc', 'a%', 'é', '%C', '_b_', 'x'])),
    ('bytealike', ['bytea', 'bytea'], pairs(['\\x616263', '\\x', '\\xff'], ['\\x6125', '\\x5f', '\\x', '\\x255c', '\\xff'])),
    ('like_escape', [TEXT, TEXT], pairs(['a%b', 'a#%b', 'a\\b', '##', '#'], ['#', '', '\\', 'xx', '%'])),
    ('substr', [TEXT, 'int4', 'int4'], [['héllo', a, b] for a in ['-3', '0', '1', '2', '5', '9', '2147483647', '-2147483648'] for b in ['0', '1', '3', '9', '-1', '2147483647']]),
    ('substr', [TEXT, 'int4'], [['héllo', a] for a in ['-3', '0', '1', '2', '5', '9', '2147483647', '-2147483648']]),
    ('substr', ['bytea', 'int4', 'int4'], [['\\x6162636465', a, b] for a in ['-3', '0', '1', '2', '5', '9'] for b in ['0', '1', '3', '9', '-1', '2147483647']]),
    ('overlay', [TEXT, TEXT, 'int4', 'int4'], [['héllo', 'XY', a, b] for a in ['-3', '0', '1', '2', '5', '9', '2147483647'] for b in ['0', '1', '3', '9', '-1', '2147483647']]),
    ('overlay', [TEXT, TEXT, 'int4'], [['héllo', 'XY', a] for a in ['0', '1', '2', '5', '9', '2147483647']]),
    ('overlay', ['bytea', 'bytea', 'int4', 'int4'], [['\\x6162636465', '\\x5859', a, b] for a in ['0', '1', '5', '9'] for b in ['0', '3', '-1', '2147483647']]),
    ('lpad', [TEXT, 'int4', TEXT], [[s, n, f] for s in ['hé', '', 'abcdef'] for n in ['0', '4', '7', '-1', '2147483647', '268435455'] for f in ['x', 'xyz', '', 'é']]),
    ('rpad', [TEXT, 'int4', TEXT], [[s, n, f] for s in ['hé', '', 'abcdef'] for n in ['0', '4', '7', '-1', '2147483647', '300000000'] for f in ['x', 'xyz', '', 'é']]),
    ('lpad', [TEXT, 'int4'], [['hé', n] for n in ['0', '1', '5', '-1']]),
    ('rpad', [TEXT, 'int4'], [['hé', n] for n in ['0', '1', '5', '-1']]),
    ('repeat', [TEXT, 'int4'], [[s, n] for s in ['ab', '', 'é'] for n in ['0', '3', '-1', '2147483647', '1073741823']]),
    ('left', [TEXT, 'int4'], [['héllo', n] for n in ['0', '2', '9', '-1', '-4', '-9', '-2147483648', '2147483647']]),
    ('right', [TEXT, 'int4'], [['héllo', n] for n in ['0', '2', '9', '-1', '-4', '-9', '-2147483648', '2147483647']]),
    ('btrim', [TEXT, TEXT], pairs(['xxabcxx', 'yxabcxy', '', 'xx', ' a ', 'éaé'], ['x', 'xy', '', ' ', 'é'])),
    ('ltrim', [TEXT, TEXT], pairs(['xxabcxx', 'yxabcxy', '', 'xx', ' a '], ['x', 'xy', '', ' '])),
    ('rtrim', [TEXT, TEXT], pairs(['xxabcxx', 'yxabcxy', '', 'xx', ' a '], ['x', 'xy', '', ' '])),
    ('btrim', ['bytea', 'bytea'], pairs(['\\x00610000', '\\x'], ['\\x00', '\\x6100', '\\x'])),
    ('replace', [TEXT, TEXT, TEXT], [['aXbXX', a, b] for a in ['X', 'XX', '', 'z', 'aXbXX'] for b in ['', 'yy', 'X']]),
    ('translate', [TEXT, TEXT, TEXT], [['12345é', a, b] for a in ['143', 'é', '', '11', '54321'] for b in ['ax', '', 'abcde', 'é']]),
    ('split_part', [TEXT, TEXT, 'int4'], [[s, d, n] for s in ['a,b,,c', 'abc', '', 'aaa'] for d in [',', '', 'aa', 'abc'] for n in ['1', '2', '3', '4', '5', '0', '-1', '-2', '-4', '-9']]),
    ('position', [TEXT, TEXT], pairs(['abcabc', '', '日本語'], ['b', '', 'bc', 'z', '語', 'abcabcd'])),
    ('starts_with', [TEXT, TEXT], pairs(['abc', ''], ['a', '', 'abcd'])),
    ('ascii', [TEXT], [['a'], [''], ['é'], ['日'], ['🙂']]),
    ('chr', ['int4'], [[n] for n in ['65', '0', '-1', '233', '26085', '128578', '55296', '57343', '1114109', '1114112', '2147483647']]),
    ('initcap', [TEXT], [[s] for s in ['hello world', 'HELLO-WORLD x2y', "it's", 'élan vital', '1st', '_a b']]),
    ('upper', [TEXT], [[s] for s in ['straße', 'éàü', 'ǆ', 'ß', 'ﬁ', 'ı']]),
    ('lower', [TEXT], [[s] for s in ['STRASSE', 'ÉÀÜ', 'İ', 'Σ', 'ΑΣ']]),
    ('concat', [TEXT, 'int4', 'bool', 'numeric'], [['a', '1', 't', '1.50'], [None, None, None, None], ['x', None, 'f', '0']]),
    ('concat_ws', [TEXT, TEXT, 'int4', 'bool'], [[',', 'a', '1', 't'], [None, 'a', '1', 't'], ['-', None, '5', None], ['', None, None, None], ['; ', '', '', 'f'][:2] + ['2', 'f']]),
    ('format', [TEXT], [[s] for s in ['abc', '%%', '%', '%s', '%x', '100%%', '%1$s', '']]),
    ('format', [TEXT, TEXT, 'int4'], [[f, a, b] for f in ['%s %s', '%2$s %1$s', '%I', '%L', '%10s|', '%-10s|', '%1$10s|', '%*2$s|', '%-*2$s|', '%*s|', '%s %s %s', '%0$s', '%3$s', '%z', '%1$', '%5', '%1$*2$s|', '%1$-5L|', '%L %L', '%99999999999s', '%*3$s', '%*2s', '%I.%I', '%--5s|', '%s%%', '%1$s %s', '%s %1$s %s'] for a, b in [['a b', '7'], ['x', '-7'], [None, None], ["q'\\", '3']]]),
    ('quote_ident', [TEXT], [[s] for s in ['abc', 'Abc', 'a b', 'select', 'a"b', '', '1a', '_x', 'a$b', 'é', 'table', 'name', 'between', 'int', 'year', 'value', 'zone', 'user', 'left']]),
    ('quote_literal', [TEXT], [[s] for s in ['abc', "it's", 'a\\b', '', "\\'"]]),
    ('quote_nullable', [TEXT], [['a'], [None], ["'"]]),
    ('quote_literal', ['int4'], [['42'], ['-1']]),
    ('quote_nullable', ['int4'], [['42'], [None]]),
    ('quote_literal', ['numeric'], [['1.50']]),
    ('parse_ident', [TEXT, 'bool'], [[s, b] for s in ['a.b', 'A."B c".d', ' a . b ', 'a.', '.a', '', '"', '"a', '""', 'a b', '1a', 'a$1', 'é.ü', 'a..b', 'foo()', '"a""b"', 'a.b.c.d', '$a'] for b in ['t', 'f']]),
    ('encode', ['bytea', TEXT], [[b, e] for b in ['\\x', '\\x00ff5c41', '\\x' + '616263' * 30, '\\x61', '\\x6162'] for e in ['hex', 'base64', 'escape', 'HEX', 'foo']]),
    ('decode', [TEXT, TEXT], [[s, e] for s, e in pairs(['6162', '61 62', '616', 'zz', '', 'é'], ['hex'])] + [[s, 'base64'] for s in ['YWJj', 'YWI=', 'YQ==', 'YQ=', 'YQ', '=', 'Y Q\n==', '!', 'YWJjZA', 'Y===', 'YWJjé']] + [[s, 'escape'] for s in ['abc', '\\\\', '\\141', '\\', '\\9', 'é', '\\400']] + [['a', 'foo']]),
    ('string_to_array', [TEXT, TEXT], pairs(['a,b,c', '', 'abc', None, ',', 'aa,'], [',', '', None, 'bc', ',,'])),
    ('string_to_array', [TEXT, TEXT, TEXT], [[s, d, n] for s in ['a,b,,c', '', None, 'aba'] for d in [',', '', None] for n in ['b', '', None, 'aba']]),
    ('string_to_table', [TEXT, TEXT], pairs(['a,b,c', '', 'abc', None], [',', '', None])),
    ('string_to_table', [TEXT, TEXT, TEXT], [['a,b,,c', ',', n] for n in ['b', '', None]]),
    ('array_to_string', ['_int4', TEXT], pairs(['{1,2,NULL,3}', '{}', '{{1,2},{3,4}}'], [',', '', ' - '])),
    ('array_to_string', ['_text', TEXT, TEXT], [[a, s, n] for a in ['{a,NULL,"x,y",""}', '{}', None, '{NULL}'] for s in [',', None] for n in ['*', '', None]]),
    ('array_to_string', ['_bool', TEXT], [['{t,f,NULL}', ',']]),
    ('array_to_string', ['_float8', TEXT], [['{1,2.5,NaN}', ',']]),
    ('array_append', ['_int4', 'int4'], pairs(['{1,2}', '{}', None, '{{1,2}}', '[5:6]={1,2}', '[2147483646:2147483646]={1}'], ['3', None])),
    ('array_prepend', ['int4', '_int4'], [[b, a] for a, b in pairs(['{1,2}', '{}', None, '{{1,2}}', '[5:6]={1,2}'], ['3', None])]),
    ('array_cat', ['_int4', '_int4'], pairs(*[['{1,2}', '{}', None, '{{1,2}}', '[5:6]={1,2}', '{{3,4},{5,6}}', '{{1,2,3}}', '{{{1}}}', '[0:0][1:2]={{7,8}}']] * 2)),
    ('array_position', ['_text', TEXT], pairs(['{a,b,NULL,b}', '{}', None, '{{a}}', '[3:4]={a,b}'], ['b', 'z', None])),
    ('array_position', ['_text', TEXT, 'int4'], [['{a,b,NULL,b}', v, n] for v in ['b', None, 'a'] for n in ['1', '3', '9', None, '-5']]),
    ('array_positions', ['_int4', 'int4'], pairs(['{1,2,1,NULL}', '{}', None, '{{1}}', '[0:1]={1,1}'], ['1', '9', None])),
    ('array_remove', ['_int4', 'int4'], pairs(['{1,2,1,NULL}', '{}', None, '{{1}}', '[0:1]={1,2}', '{1}'], ['1', '9', None])),
    ('array_replace', ['_int4', 'int4', 'int4'], [[a, b, c] for a in ['{1,2,1,NULL}', '{}', None, '{{1,2}}', '[0:1]={1,2}'] for b in ['1', None] for c in ['5', None]]),
    ('array_fill', ['int4', '_int4'], pairs(['7', None], ['{3}', '{2,2}', '{}', None, '{0}', '{-1}', '{NULL}', '{{1}}', '{1,1,1,1,1,1,1}', '{134217728}', '{65536,65536}'])),
    ('array_fill', ['int4', '_int4', '_int4'], [['7', a, b] for a in ['{3}', '{2,2}', None, '{}'] for b in ['{2}', '{0,5}', None, '{NULL}', '{2147483647}', '{}']]),
    ('trim_array', ['_int4', 'int4'], pairs(['{1,2,3}', '{}', '{{1,2},{3,4}}', '[2:4]={1,2,3}'], ['0', '1', '3', '4', '-1', '2'])),
    ('unnest', ['_int4'], [['{1,2,NULL}'], ['{}'], ['{{1,2},{3,4}}'], ['[0:1]={5,6}']]),
    ('generate_subscripts', ['_int4', 'int4'], pairs(['{1,2,3}', '{}', '{{1,2},{3,4}}', '[2:4]={1,2,3}'], ['0', '1', '2', '3', '-1'])),
    ('generate_subscripts', ['_int4', 'int4', 'bool'], [['[2:4]={1,2,3}', '1', b] for b in ['t', 'f']]),
    ('generate_series', ['int4', 'int4'], [[a, b] for a, b in pairs(['1', '5', '2147483646'], ['3', '1', '2147483647', '5'])]),
    ('generate_series', ['int4', 'int4', 'int4'], [[a, b, c] for a, b in pairs(['1', '10'], ['7', '1', '10']) for c in ['2', '-3', '0', '2147483647', '-2147483648']]),
    ('generate_series', ['int8', 'int8', 'int8'], [[a, b, c] for a, b in pairs(['1', '9223372036854775806'], ['7', '9223372036854775807']) for c in ['2', '-3', '0']]),
    ('generate_series', ['numeric', 'numeric'], [['0', '2.5'], ['1.5', '0'], ['NaN', '1'], ['0', 'Infinity'], ['1', '3.00']]),
    ('generate_series', ['numeric', 'numeric', 'numeric'], [['0', '1', '0.25'], ['1', '0', '-0.5'], ['0', '1', '0'], ['0', '1', 'NaN'], ['0', '1', 'Infinity']]),
    ('generate_series', ['timestamp', 'timestamp', 'interval'], [['2020-01-31', '2020-06-01', '1 month'], ['2020-01-01', '2020-01-03', '12 hours'], ['2020-01-03', '2020-01-01', '-1 day'], ['2020-01-01', '2020-01-02', '0']]),
    ('generate_series', ['timestamptz', 'timestamptz', 'interval'], [['2020-01-31', '2020-06-01', '1 month'], ['2020-01-01', '2020-01-03', '12 hours']]),
    ('width_bucket', ['float8', 'float8', 'float8', 'int4'], [[x, a, b, n] for x in ['5', '0', '10', '-1', '11', 'NaN', 'Infinity', '3.3'] for a, b in [['0', '10'], ['10', '0'], ['5', '5'], ['NaN', '1'], ['0', 'Infinity']] for n in ['4', '0', '2147483647', '-1']]),
    ('width_bucket', ['int4', '_int4'], pairs(['0', '1', '2', '5', '9'], ['{1,3,5}', '{}', '{1,NULL}', '{{1}}', '[0:1]={1,5}'])),
    ('width_bucket', ['numeric', '_numeric'], pairs(['0', '1.5', 'NaN'], ['{1,1.5,5}', '{1,NaN}'])),
    ('power', ['float8', 'float8'], pairs(*[['0', '-0', '1', '-1', '2', '-2', '0.5', 'NaN', 'Infinity', '-Infinity', '1e200', '-3', '3', '1e-200']] * 2)),
    ('atan2', ['float8', 'float8'], pairs(*[['0', '1', '-1', 'NaN', 'Infinity', '-0']] * 2)),
    ('atan2d', ['float8', 'float8'], pairs(*[['0', '1', '-1', 'NaN', 'Infinity', '-0']] * 2)),
    *[(f, ['float8'], [[x] for x in ['0', '30', '45', '60', '90', '120', '135', '150', '180', '210', '270', '300', '330', '360', '-30', '405', '12.3', '-0', 'NaN', 'Infinity']]) for f in ['sind', 'cosd', 'tand', 'cotd']],
    *[(f, ['float8'], [[x] for x in ['0', '0.5', '-0.5', '1', '-1', '0.1', '-0.7', '1.1', 'NaN', '-0']]) for f in ['asind', 'acosd', 'atand', 'asin', 'acos', 'atan', 'atanh', 'asinh', 'acosh']],
    *[(f, ['float8'], [[x] for x in ['0', '1', '-1', '2', '10', '0.001', '700', '-800', '710', 'NaN', 'Infinity', '-Infinity', '-0', '1e-320']]) for f in ['exp', 'ln', 'log', 'log10', 'sqrt', 'cbrt', 'sinh', 'cosh', 'tanh', 'degrees', 'radians', 'sin', 'cos', 'tan', 'cot', 'acosh', 'asinh']],
    *[(f, ['float8'], [[x] for x in ['0', '0.5', '1.5', '2.5', '-0.5', '-1.5', '2.4999', '-2.7', '1e300', 'NaN', 'Infinity', '-0', '-0.2']]) for f in ['round', 'trunc', 'ceil', 'floor', 'sign', 'abs']],
    *[(f, ['float8'], [[x] for x in ['0', '0.5', '1.5', '2.5', '-0.5', '-1.5', '32767.4', '32767.5', '-32768.5', '-32769', '2147483647.5', '2147483646.5', '-2147483648.5', '9223372036854775807', '9223372036854774784', '-9223372036854775808', 'NaN', 'Infinity']]) for f in ['int2', 'int4', 'int8', 'float4']],
    *[(f, ['float4'], [[x] for x in ['0', '0.5', '1.5', '2.5', '-0.5', '32767.4', '32767.5', '2147483647', '2147483520', '9.22e18', '9.3e18', 'NaN']]) for f in ['int2', 'int4', 'int8', 'float8']],
    ('float4', ['float8'], [[x] for x in ['1e39', '1e-50', '3.4028235677973366e38', '1e-45', '0.1']]),
    ('gcd', ['int4', 'int4'], pairs(*[['0', '12', '-18', '2147483647', '-2147483648', '1']] * 2)),
    ('lcm', ['int4', 'int4'], pairs(*[['0', '12', '-18', '2147483647', '-2147483648', '1']] * 2)),
    ('gcd', ['int8', 'int8'], pairs(*[['0', '12', '-18', '-9223372036854775808', '1']] * 2)),
    ('lcm', ['int8', 'int8'], pairs(*[['0', '12', '-18', '-9223372036854775808', '1', '4294967297']] * 2)),
    *[(f, ['int4', 'int4'], pairs(['1', '-1', '2147483647', '-2147483648', '5'], ['0', '1', '31', '32', '33', '-1', '100'])) for f in ['int4shl', 'int4shr']],
    *[(f, ['int2', 'int4'], pairs(['1', '-1', '32767', '-32768', '5'], ['0', '1', '15', '16', '17', '31', '32', '33', '-1'])) for f in ['int2shl', 'int2shr']],
    *[(f, ['int8', 'int4'], pairs(['1', '-1', '9223372036854775807', '5'], ['0', '1', '63', '64', '65', '-1'])) for f in ['int8shl', 'int8shr']],
    *[('int' + t + op, ['int' + t] * 2, pairs(*[v] * 2)) for t, v in [('2', ['0', '-1', '32767', '-32768', '7']), ('4', ['0', '-1', '2147483647', '-2147483648', '7']), ('8', ['0', '-1', '9223372036854775807', '-9223372036854775808', '7'])] for op in ['pl', 'mi', 'mul', 'div', 'mod']],
    *[('float8' + op, ['float8'] * 2, pairs(*[['0', '-0', '1', '1e308', '-1e308', '1e-308', 'NaN', 'Infinity', '-Infinity']] * 2)) for op in ['pl', 'mi', 'mul', 'div', 'lt', 'eq', 'larger', 'smaller']],
    *[('float4' + op, ['float4'] * 2, pairs(*[['0', '1', '3e38', '1e-38', 'NaN', 'Infinity']] * 2)) for op in ['pl', 'mi', 'mul', 'div', 'ge', 'ne']],
    ('get_byte', ['bytea', 'int4'], pairs(['\\x616263', '\\x'], ['0', '2', '3', '-1'])),
    ('set_byte', ['bytea', 'int4', 'int4'], [['\\x616263', a, b] for a in ['0', '2', '3', '-1'] for b in ['0', '255', '256', '-1']]),
    ('get_bit', ['bytea', 'int8'], pairs(['\\x616263', '\\x'], ['0', '7', '8', '23', '24', '-1'])),
    ('set_bit', ['bytea', 'int8', 'int4'], [['\\x616263', a, b] for a in ['0', '9', '24', '-1'] for b in ['0', '1', '2']]),
    ('pg_size_pretty', ['int8'], [[n] for n in ['0', '1', '-1', '10239', '10240', '10241', '-10240', '10485247', '10485248', '10485759', '1073741824', '123456789012', '1125899906842624', '9223372036854775807', '-9223372036854775808', '20480', '1000000', '10736344497', '10736344498']]),
    ('pg_size_pretty', ['numeric'], [[n] for n in ['0', '1.5', '-1', '10239.9', '10240', '-10240.5', '10485247', '10485248', '123456789012', '1e30', '-1e30', '10736344497', 'NaN']]),
    ('pg_size_bytes', [TEXT], [[s] for s in ['1', '1 kB', '1.5 GB', '-2MB', '1e3', '1e3kb', '1 EB', 'x', '', '  7  bytes ', '1B', '1 b', '1.kB', '.5 kB', '.', '+3 TB', '9223372036854775807', '9 EB', '1PB', '1e5 PB', '1ee', '1 k B', '0.1', '2.5 B']]),
    ('unistr', [TEXT], [[s] for s in ['abc', '\\0061', '\\+000061', '\\u0061', '\\U00000061', '\\\\', '\\', '\\d83d\\de42', '\\d83d', '\\de42', '\\0000', '\\xyz', '\\d83dx', '\\u00e9t']]),
    ('num_nulls', ['int4', TEXT], [['1', None], [None, None], ['1', 'a']]),
    ('num_nonnulls', ['int4', TEXT], [['1', None], [None, None], ['1', 'a']]),
    ('convert_from', ['bytea', 'name'], [[b, e] for b in ['\\x61', '\\xc3a9', '\\xe9', '\\x00', '\\xff', '\\xe9a1', '\\xf09f9982'] for e in ['UTF8', 'utf-8', 'LATIN1', 'foo']]),
    ('convert_to', [TEXT, 'name'], [[s, e] for s in ['a', 'é', '日'] for e in ['UTF8', 'latin1', 'foo']]),
    ('length', ['bytea', 'name'], [['\\xc3a9', 'UTF8'], ['\\xc3a9', 'latin1'], ['\\xff', 'UTF8'], ['\\x61', 'foo']]),
    ('pg_char_to_encoding', ['name'], [['UTF8'], ['utf-8'], ['LATIN1'], ['foo'], ['sql_ascii'], ['unicode'], ['win1252']]),
    ('pg_encoding_to_char', ['int4'], [[str(n)] for n in range(-1, 44)]),
    ('bpchar', ['bpchar', 'int4', 'bool'], [[s, n, b] for s in ['abc', 'abc  ', 'a', 'é日b'] for n in ['-1', '6', '7', '9', '5'] for b in ['t', 'f']]),
    ('varchar', ['varchar', 'int4', 'bool'], [[s, n, b] for s in ['abc', 'abc  ', 'a', 'é日b'] for n in ['-1', '6', '7', '9', '5'] for b in ['t', 'f']]),
    ('in_range', ['float8', 'float8', 'float8', 'bool', 'bool'], [[a, b, c, d, e] for a in ['1', 'NaN', 'Infinity'] for b in ['3', 'NaN', '-Infinity', 'Infinity'] for c in ['2', '0', 'Infinity', '-1', 'NaN'] for d in ['t', 'f'] for e in ['t', 'f']]),
    ('bool', ['int4'], [['0'], ['1'], ['-5']]),
    ('textanycat', [TEXT, 'int4'], [['a', '1']]), ('anytextcat', ['bool', TEXT], [['t', 'x']]), ('textanycat', [TEXT, 'numeric'], [['a', '1.50']]),
    ('anytextcat', ['_int4', TEXT], [['{1,2}', 'x']][:0]),
]
