"""The values that values.py tries."""

TYPES_SEEN = set('numeric date time timetz timestamp timestamptz interval json jsonb jsonpath inet cidr bit varbit'.split())

# Functions that depend on the time or the session, or that PostgreSQL calls by itself.
SKIP = set('''age timeofday pg_sleep_for pg_sleep_until int8_sum int8_avg interval_avg numeric_avg
numeric_sum pg_size_pretty time_timetz timetz_zone 1386 2059 inet_client_addr inet_server_addr
numrange tsrange tstzrange daterange numrange_subdiff daterange_subdiff tsrange_subdiff
tstzrange_subdiff money cash_numeric numeric_cash to_tsvector json_to_tsvector jsonb_to_tsvector
json_populate_record jsonb_populate_record json_to_record jsonb_to_record
jsonb_path_exists_tz jsonb_path_query_tz jsonb_path_query_array_tz jsonb_path_query_first_tz
jsonb_path_match_tz numeric_fac interval interval_scale pg_xact_commit_timestamp
pg_replication_origin_xact_setup pg_stat_file generate_series_timestamp generate_series_timestamptz
generate_series_numeric generate_series_step_numeric bit varbit numeric'''.split())

NUMERIC = ['0', '1', '-1', '0.5', '-0.5', '1.50', '2.5', '-2.5', '123456789012345678901234567890',
           '0.000000123', '-99999.99', '1e20', 'NaN', 'Infinity', '-Infinity', '3', '7.0', '100',
           '1e-30', '0.1', '12345.6789', '-0.00', '10', '2']
DATE = ['2000-01-01', '1999-12-31', '2024-02-29', '0001-01-01', '0044-03-15 BC', 'infinity',
        '-infinity', '5874897-12-31', '4714-11-24 BC', '2020-06-15', '2019-03-31', '1900-02-28', '2005-01-01']
TIME = ['00:00:00', '12:34:56.789', '23:59:59.999999', '24:00:00', '06:30', '01:02:03.000004']
TIMETZ = ['00:00:00+00', '12:34:56.789-07', '23:59:59+02', '24:00:00+05:30', '06:30-08:00:15']
TIMESTAMP = ['2000-01-01 00:00:00', '1999-12-31 23:59:59.999999', '2024-02-29 12:34:56.789',
             '0001-01-01 00:00:00', '0044-03-15 01:02:03 BC', 'infinity', '-infinity',
             '294276-12-31 23:59:59', '4714-11-24 00:00:00 BC', '2020-03-29 02:30:00',
             '2020-10-25 02:30:00', '2019-01-31 10:00', '1970-01-01', '2001-02-16 20:38:40.12']
TIMESTAMPTZ = [t if 'infinity' in t or 'BC' in t else t + '+00' for t in TIMESTAMP] + ['2020-07-01 12:00-04', '1850-01-01 00:00+00']
INTERVAL = ['0', '1 day', '-1 day', '1 month', '1 year 2 months 3 days 4:05:06.789', '-1 year -2 mons +3 days -04:05:06',
            '25:00:00', '-00:00:00.000001', '100 years', '1 mon -1 day', '40 days 30:00', '-40 days -30:00', '1 hour',
            '15 minutes', '35 days', '178000000 years', '2562047788:00:54.775807']
JSON = ['null', 'true', '1', '1.50', '"a"', '""', '[]', '{}', '[1, 2, 3]', '["a","b","a",null]', '{"a": 1, "b": null}',
        '{"a":{"b":[1,{"c":"d"}]},"bb":2.0}', '[[1,2],[3,4]]', '{"a":"x\\ny","é":"\\u00e9"}', '[{"a":1},{"a":2}]', '-0.5', '{"":1}',
        '[1,[2,[3]]]', ' { "a" : [ 1 , 2 ] , "a" : 3 } ']
TEXTARRAY = ['{}', '{a}', '{a,b}', '{a,b,1}', '{0}', '{-1}', '{1,0}', '{NULL}', '{a,NULL}', '{bb}', '{a,b,1,c}', '{x,y}', '{5}', '{{a,b}}', '{1,2}']
INET = ['1.2.3.4', '192.168.1.5/24', '10.0.0.0/8', '0.0.0.0/0', '255.255.255.255', '::1', 'fe80::1/64', '2001:db8::/32',
        '::ffff:1.2.3.4/96', '192.168.0.0/16', '192.168.1.0/25', '::/0']
CIDR = ['1.2.3.4/32', '192.168.1.0/24', '10.0.0.0/8', '0.0.0.0/0', '::1/128', 'fe80::/64', '2001:db8::/32', '172.16.0.0/12', '2001:0:0:1::/64']
BIT = ['', '1', '0', '101', '111', '000', '10101010', '1111111100000000', '01']

POOLS = {
    'numeric': NUMERIC, 'date': DATE, 'time': TIME, 'timetz': TIMETZ, 'timestamp': TIMESTAMP,
    'timestamptz': TIMESTAMPTZ, 'interval': INTERVAL, 'json': JSON, 'jsonb': JSON, 'inet': INET, 'cidr': CIDR,
    'bit': BIT, 'varbit': BIT, 'bool': ['t', 'f'],
    'int2': ['0', '1', '-1', '7', '32767', '-32768'],
    'int4': ['0', '1', '-1', '2', '5', '-7', '12', '100', '2147483647', '-2147483648', '2020', '31'],
    'int8': ['0', '1', '-1', '9', '4294967296', '9223372036854775807', '-9223372036854775808', '20'],
    'float4': ['0', '1', '-1.5', '1e38', '3.14159', 'NaN', 'Infinity', '1e-30', '0.1', '123456.7'],
    'float8': ['0', '1', '-1', '0.5', '2.5', '1e308', '3.14159265358979', 'NaN', 'Infinity', '-Infinity', '100.25', '1e20', '0.1', '-2.7', '1e-10', '1234567890.123456'],
    'text': ['a', 'b', '', 'é', 'bb', '0'],
    '_text': TEXTARRAY,
    'pg_lsn': ['0/0', '16/B374D848', 'FFFFFFFF/FFFFFFFF', '0/1'],
   'jsonpath': ['$', '$.a', '$[*]', '$.a.b[*]', 'strict $.a', '$.* ? (@ > 1)', '$[0]', '$[last]', '$.**', '$.a[*].c', '$ ? (@.a == 1)', '$.size()', '$.type()'],
}

UNITS = ['microseconds', 'milliseconds', 'second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year', 'decade',
         'century', 'millennium', 'epoch', 'julian', 'dow', 'isodow', 'doy', 'isoyear', 'timezone', 'timezone_hour',
         'timezone_minute', 'foo', 'MONTHS', 'us', 'ms']
ZONES = ['UTC', 'Europe/Berlin', 'america/new_york', 'CET', 'MSK', 'EST', '+02', 'foo', 'Asia/Kolkata', 'EDT', 'Z', 'FOO+3:30', 'cest', '<+05>-05', 'Australia/Lord_Howe']

ARGUMENTS = {
    'date_part': [UNITS, None], 'extract': [UNITS, None],
    'timestamp_trunc': [UNITS, None], 'timestamptz_trunc': [UNITS, None], 'interval_trunc': [UNITS, None],
    'timestamptz_trunc_zone': [UNITS[:14], None, ZONES],
    'timestamp_zone': [ZONES, None], 'timestamptz_zone': [ZONES, None],
    'timestamp_izone': [['1:00', '-5:30', '1 day', '00:00:30'], None], 'timestamptz_izone': [['1:00', '-5:30', '1 month', '00:00:30'], None],
    'timetz_izone': [['1:00', '-5:30', '1 month', '00:00:30'], None],
    'make_date': [['2020', '-44', '0', '2019', '9999999'], ['1', '2', '13', '12'], ['1', '29', '31', '0']],
    'make_time': [['0', '23', '24', '25', '-1'], ['0', '59', '60'], ['0', '59.999999', '60', '61', '-1', '12.3456789', 'NaN']],
    'make_timestamp': [['2020', '-44', '0', '300000'], ['1', '2', '13'], ['1', '29', '31'], ['0', '23', '25'], ['0', '59'], ['0', '59.5', '61']],
    'make_timestamptz': [['2020', '-44', '0', '300000'], ['1', '3', '13'], ['1', '29', '31'], ['2', '23', '25'], ['30', '59'], ['0', '59.5', '61']],
    'make_timestamptz_at_timezone': [['2020', '2021'], ['1', '3', '13'], ['1', '29', '31'], ['2', '23'], ['30', '59'], ['0', '59.5'], ZONES + ['+5', '-03:30', '5', '+99', 'x']],
    'make_interval': [['0', '1', '-2'], ['0', '14'], ['0', '1'], ['0', '-5'], ['0', '25', '1000000'], ['0', '-61'], ['0', '1.5', '-0.000001', 'Infinity']],
    'float8_timestamptz': [['0', '1', '1284352323.5', '-1e11', '1e20', 'NaN', 'Infinity', '-Infinity', '0.0000005', '9224318015999']],
    'timestamp_bin': [['15 minutes', '1 day', '-1 hour', '1 month', '0', '2 days 3:00'], None, None],
    'timestamptz_bin': [['15 minutes', '1 day', '-1 hour', '1 month', '0', '2 days 3:00'], None, None],
    'numeric_round': [None, ['0', '1', '2', '-1', '-2', '20', '-40', '5']], 'numeric_trunc': [None, ['0', '1', '2', '-1', '-2', '20', '-40', '5']],
    'numeric_power': [NUMERIC, NUMERIC + ['0.25', '-3', '17']],
    'timestamp_scale': [None, ['0', '3', '6']], 'timestamptz_scale': [None, ['0', '3', '6']], 'time_scale': [None, ['0', '3', '6']], 'timetz_scale': [None, ['0', '2']],
    'jsonb_object_field': [None, ['a', 'b', 'bb', '', 'é', 'x']], 'jsonb_object_field_text': [None, ['a', 'b', 'bb', '']],
    'json_object_field': [None, ['a', 'b', 'bb', '', 'é', 'x']], 'json_object_field_text': [None, ['a', 'b', 'bb', '']],
    'jsonb_array_element': [None, ['0', '1', '-1', '-3', '7']], 'json_array_element': [None, ['0', '1', '-1', '-3', '7']],
    'jsonb_array_element_text': [None, ['0', '1', '-1', '-3', '7']], 'json_array_element_text': [None, ['0', '1', '-1', '-3', '7']],
    'jsonb_delete_idx': [None, ['0', '1', '-1', '-3', '7']],
    'jsonb_set': [None, None, ['9', '{"n":1}', 'null'], None], 'jsonb_insert': [None, None, ['9', '{"n":1}'], None],
    'jsonb_set_lax': [None, None, ['9', None], None, ['delete_key', 'return_target', 'use_json_null', 'raise_exception', 'x']],
    'inet_set_masklen': [None, ['8', '24', '32', '64', '-1', '200']], 'cidr_set_masklen': [None, ['8', '24', '32', '-1', '200']],
    'inetpl': [None, ['1', '255', '-1', '5000000000', '-9223372036854775808']], 'inetmi_int8': [None, ['1', '255', '-1', '5000000000', '-9223372036854775808']],
    '2631': [['1', '-1'], None],
    'bitshiftleft': [None, ['0', '1', '3', '-2', '100', '-100']], 'bitshiftright': [None, ['0', '1', '3', '-2', '100', '-100']],
    'bitsubstr': [None, ['-1', '0', '1', '2', '5'], ['-1', '0', '1', '3', '2147483647']], 'bitsubstr_no_len': [None, ['-1', '0', '1', '2', '5']],
    'bitgetbit': [None, ['0', '1', '7', '8', '-1']], 'bitsetbit': [None, ['0', '1', '7', '-1'], ['0', '1', '2']],
    'bitfromint4': [['0', '5', '-5', '300', '-2147483648'], ['1', '8', '4', '40']], 'bitfromint8': [['0', '5', '-5', '300'], ['1', '8', '70']],
    'bitoverlay': [None, None, ['0', '1', '2'], ['0', '1', '2']], 'bitoverlay_no_len': [None, None, ['0', '1', '2']],
    'width_bucket_numeric': [None, ['0', '1.5', '-10', 'NaN', '100'], ['10', '0', '1.5', 'Infinity', '-10'], ['1', '5', '0', '100']],
    'numeric_gcd': [NUMERIC, NUMERIC + ['12', '18', '0.75']], 'numeric_lcm': [NUMERIC, NUMERIC + ['12', '18', '0.75']],
    'interval_mul': [None, ['0', '1', '-1', '0.5', '1.5', '3.14159', '-0.1', 'NaN', '1e20', '100']], 'interval_div': [None, ['0', '1', '-1', '0.5', '1.5', '3.14159', '-7', '100']],
    'date_pli': [None, ['0', '1', '-1', '2147483647', '-2147483648', '365']], 'date_mii': [None, ['0', '1', '-1', '2147483647', '365']],
}

TS_FORMATS = ['YYYY-MM-DD HH24:MI:SS', 'Day, DD  HH12:MI:SS', 'FMDay, FMDD  HH12:MI:SS', 'DAY Day day DY Dy dy MONTH Month month MON Mon mon FMMonth',
    'Y,YYY YYYY YYY YY Y CC Q MM WW DDD DD D J', 'FMY,YYY FMYYYY FMYYY FMYY FMY FMCC FMQ FMMM FMWW FMDDD FMDD FMD FMJ',
    'HH HH12 HH24 MI SS SSSS SSSSS', '"HH:MI:SS is" HH:MI:SS "\\"text between quote marks\\""', 'HH24--text--MI--text--SS', 'YYYYTH YYYYth Jth',
    'YYYY A.D. YYYY a.d. YYYY bc HH:MI:SS P.M. HH:MI:SS p.m. HH:MI:SS pm', 'IYYY IYY IY I IW IDDD ID', 'FMIYYY FMIYY FMIY FMI FMIW FMIDDD FMID',
    'FF1 FF2 FF3 FF4 FF5 FF6 ff1 ff6 MS US', 'TZ tz OF TZH TZM', 'RM rm FMRM', 'WW W w', 'DDth DDTH MIth', '', 'FMHH24:FMMI:FMSS.FMMS', 'YYYY"year"MM\\"x\\"', 'BC AD B.C.', 'TMDay TMMonth', 'FXYYYY', 'xyz abc', 'SP DDSP', 'AM PM am A.M.']
IV_FORMATS = ['YYYY-MM-DD HH24:MI:SS', 'HH24:MI:SS', 'DD "days" HH12:MI', 'MM Q DDD', 'FMYYYY FMMM', 'MS US', 'SSSS', 'Day', 'CC', 'AM', 'J', 'HH', 'FF3', 'Y YY YYY IYYY', 'TZ']
NUM_FORMATS = ['9', '99', '999', '0999', '9,999', '999.99', '9G999D99', 'FM999.99', 'FM9999999990.0099', 'S999', '999S', 'MI999', '999MI', 'PL999', 'SG999', '999PR',
    'L999', 'RN', 'FMRN', 'rn', '999th', '999TH', '99V99', 'EEEE', '9.99EEEE', '9.999eeee', '0', '0.0', '.99', 'FM.99', '999999999999999.999999', 'FM0999', '9 9 9', '"x"999', 'B9999', 'FM', '', '9,99,9', '000', 'SG9999PR', '99.9.9', '9999999999999999999999999999999999', 'FM9', 'FM9.9', '999D', '00.00', '9S9', 'S9S', 'PR9', '9.9EEEEE', 'V9', '999 text']
TO_TS = [('2000-01-01', 'YYYY-MM-DD'), ('97/02/16 8:14:30', 'FMYYYY/FMMM/FMDD FMHH:FMMI:FMSS'), ('15 "text between quote marks" 98 54 45', 'HH24 "\\"text between quote marks\\"" YY MI SS'),
    ('05121445482000', 'MMDDHH24MISSYYYY'), ('2000January09Sunday', 'YYYYFMMonthDDFMDay'), ('97/Feb/16', 'YYMonDD'), ('97/Feb/16', 'YY/Mon/DD'), ('97/Feb/16', 'YY:Mon:DD'), ('97/Feb/16', 'FXYY:Mon:DD'), ('97/Feb/16', 'FXYY/Mon/DD'),
    ('19971116', 'YYYYMMDD'), ('20000-1116', 'YYYY-MMDD'), ('1997 AD 11 16', 'YYYY BC MM DD'), ('1997 BC 11 16', 'YYYY BC MM DD'), ('1997 A.D. 11 16', 'YYYY B.C. MM DD'), ('9-1116', 'Y-MMDD'), ('95-1116', 'YY-MMDD'), ('995-1116', 'YYY-MMDD'),
    ('2005426', 'YYYYWWD'), ('2005300', 'YYYYDDD'), ('2005527', 'IYYYIWID'), ('005527', 'IYYIWID'), ('05527', 'IYIWID'), ('5527', 'IIWID'), ('2005364', 'IYYYIDDD'), ('20050302', 'YYYYMMDD'), ('2005 03 02', 'YYYYMMDD'), (' 2005 03 02', 'YYYYMMDD'), ('  20050302', 'YYYYMMDD'),
    ('2011-12-18 11:38 AM', 'YYYY-MM-DD HH12:MI PM'), ('2011-12-18 11:38 PM', 'YYYY-MM-DD HH12:MI PM'), ('2011-12-18 11:38 A.M.', 'YYYY-MM-DD HH12:MI P.M.'), ('2011-12-18 11:38 +05', 'YYYY-MM-DD HH12:MI TZH'), ('2011-12-18 11:38 -05:20', 'YYYY-MM-DD HH12:MI TZH:TZM'), ('2011-12-18 11:38 EST', 'YYYY-MM-DD HH12:MI TZ'),
    ('2018-11-02 12:34:56.025', 'YYYY-MM-DD HH24:MI:SS.MS'), ('2018-11-02 12:34:56.123456', 'YYYY-MM-DD HH24:MI:SS.FF6'), ('2018-11-02 12:34:56.12', 'YYYY-MM-DD HH24:MI:SS.FF3'), ('2018-11-02 12:34:56.12345678', 'YYYY-MM-DD HH24:MI:SS.US'),
    ('19971)24', 'YYYYMMDD'), ('Friday 1-January-1999', 'FXDay DD-MM-YYYY'), ('2005527', 'YYYYIWID'), ('19971', 'YYYYMMDD'), ('10000000000', 'FMYYYY'), ('2016-13-10 00:00:00', 'YYYY-MM-DD HH24:MI:SS'), ('2016-02-30 00:00:00', 'YYYY-MM-DD HH24:MI:SS'), ('2016-02-29 00:00:00', 'YYYY-MM-DD HH24:MI:SS'), ('2015-02-29', 'YYYY-MM-DD'), ('2015-02-11 86000', 'YYYY-MM-DD SSSS'), ('2015-02-11 86400', 'YYYY-MM-DD SSSSS'), ('2015-02-11 99', 'YYYY-MM-DD HH24'), ('2016-06-13 15:50:60', 'YYYY-MM-DD HH24:MI:SS'), ('2016-06-13 15:60:55', 'YYYY-MM-DD HH24:MI:SS'), ('2016-06-13 25:00:00', 'YYYY-MM-DD HH24:MI:SS'), ('2016-06-13 13:00', 'YYYY-MM-DD HH:MI'),
    ('1985 January 12', 'YYYY FMMonth DD'), ('1985 FMMonth 12', 'YYYY "FMMonth" DD'), ('44-02-01 BC', 'YYYY-MM-DD BC'), ('-44-02-01', 'YYYY-MM-DD'), ('-44-02-01 BC', 'YYYY-MM-DD BC'), ('2458872', 'J'), ('20 01', 'CC YY'), ('21 0', 'CC YY'), ('I-2000', 'RM-YYYY'), ('xii 2000', 'rm YYYY'), ('2000-366', 'YYYY-DDD'), ('2001-366', 'YYYY-DDD'), ('2000-53-1', 'IYYY-IW-ID'), ('1,999-01-01', 'Y,YYY-MM-DD'), ('', 'YYYY'), ('abc', 'YYYY'), ('1', 'YYYY'), ('2000 Juni', 'YYYY Month'), ('12th of June 2000', 'DDth "of" FMMonth YYYY'), ('Mon, 01 Jan 2000', 'Dy, DD Mon YYYY'), ('2000/01-01', 'YYYY-MM/DD'), ('2000++01', 'YYYY+MM'), ('200 0-1', 'YYYY-MM'), ('2000-1', 'YYYY-Q'), ('2000 3 2', 'YYYY MM W'), ('12:30', 'HH24:MI'), ('0', 'HH12'), ('a', '"b"'), ('2018-11-02 12:34 foo', 'YYYY-MM-DD HH24:MI TZ')]
TO_NUM = [('-34,338,492', '99G999G999'), ('-34,338,492.654,878', '99G999G999D999G999'), ('<564646.654564>', '999999.999999PR'), ('0.00001-', '9.999999S'), ('5.01-', 'FM9.999999S'), ('5.01-', 'FM9.999999MI'), ('5 4 4 4 4 8 . 7 8', '9 9 9 9 9 9 . 9 9'), ('.01', 'FM9.99'), ('.0', '99999999.99999999'), ('0', '99.99'), ('.-01', 'S99.99'), ('.01-', '99.99S'), (' . 0 1-', ' 9 9 . 9 9 S'), ('34,50', '999,99'), ('123,000', '999G'), ('123456', '999G999'), ('$1234.56', 'L9,999.99'), ('$1,234.56', 'L99,999.99'), ('$1,234.56', 'L9,999.99'), ('1234.56', 'L9,999.99'), ('42nd', '99th'), ('abc', '999'), ('', '999'), ('12,454.8-', '99G999D9S'), ('123', ''), ('1.5', '9V9'), ('12', '9'), ('-12', '99'), ('+12', 'S99'), ('XII', 'RN'), ('12.34', '99.9')]

CASES = [
    ('to_char', ['timestamp', 'text'], [[t, p] for p in TS_FORMATS for t in ['2000-01-01 00:00:00', '2024-02-29 12:34:56.789', '0044-03-15 01:02:03 BC', '1999-12-31 23:59:59.999999', 'infinity']]),
    ('to_char', ['timestamptz', 'text'], [[t, p] for p in TS_FORMATS for t in ['2020-07-01 12:00:00+00', '1997-02-10 17:32:01-08', '1850-01-01 00:00+00']]),
    ('to_char', ['interval', 'text'], [[t, p] for p in IV_FORMATS for t in ['0', '1 year 2 months 3 days 4:05:06.789', '-1 year -2 mons +3 days -04:05:06', '125:00:00']]),
    ('to_char', ['numeric', 'text'], [[n, p] for p in NUM_FORMATS for n in ['0', '1', '-1', '0.5', '-0.5', '123.456', '-12345.678', '1e20', 'NaN', 'Infinity', '0.000123', '485', '9999', '3999']]),
    ('to_char', ['int4', 'text'], [[n, p] for p in NUM_FORMATS for n in ['0', '1', '-1', '485', '-12345', '2147483647', '-2147483648']]),
    ('to_char', ['int8', 'text'], [[n, p] for p in NUM_FORMATS for n in ['0', '-1', '485', '9223372036854775807']]),
    ('to_char', ['float8', 'text'], [[n, p] for p in NUM_FORMATS for n in ['0', '0.1', '-1', '3.14159265358979', '1e20', '1.5e-7', 'NaN', '-Infinity', '123456.789']]),
    ('to_char', ['float4', 'text'], [[n, p] for p in NUM_FORMATS for n in ['0.1', '-1', '3.14159', '1e20', 'NaN']]),
    ('to_timestamp', ['text', 'text'], [list(pair) for pair in TO_TS]),
    ('to_date', ['text', 'text'], [list(pair) for pair in TO_TS]),
    ('to_number', ['text', 'text'], [list(pair) for pair in TO_NUM]),
    ('factorial', ['int8'], [['0'], ['5'], ['-1'], ['20'], ['25'], ['100'], ['40000']]),
    ('age', ['timestamp', 'timestamp'], [[a, b] for a in TIMESTAMP for b in TIMESTAMP if 'infinity' not in a + b]),
    ('age', ['timestamptz', 'timestamptz'], [[a, b] for a in TIMESTAMPTZ for b in TIMESTAMPTZ if 'infinity' not in a + b]),
    ('sqrt', ['numeric'], [[n] for n in ['2', '0.00002', '20000', '1e-20', '1e50', '0.5', '123456.789', '99999999999', '1e-7', '3e-9']]),
    ('ln', ['numeric'], [[n] for n in ['2', '0.5', '1.0001', '0.9999', '1e50', '1e-50', '123.456', '1', '1.1', '0.9', '1e-1000', '10.00000000000000000001']]),
    ('exp', ['numeric'], [[n] for n in ['2', '0.5', '-1', '10', '100', '-100', '1000', '-1000', '5999', '-5999', '6001', '1e-10', '0.00000000000000000001']]),
    ('log', ['numeric', 'numeric'], [[a, b] for a in ['2', '10', '0.5', '1.0001', '1e10', '1'] for b in ['2', '0.001', '1e20', '7', '1.00001']]),
    ('log', ['numeric'], [[n] for n in ['2', '100', '0.001', '1e30', '0', '-1']]),
    ('power', ['numeric', 'numeric'], [[a, b] for a in ['2', '1.1', '0.5', '-3', '10', '1.0000001', '1e10', '0.001'] for b in ['0', '1', '-1', '2', '10', '100', '-5', '0.5', '-0.25', '3.7', '1000', '12345678901']]),
    ('to_json', ['numeric'], [[n] for n in NUMERIC]), ('to_json', ['float8'], [[n] for n in ['0', '1e20', '1e-7', 'NaN', '-Infinity', '0.1']]),
    ('to_json', ['timestamp'], [[t] for t in TIMESTAMP]), ('to_json', ['timestamptz'], [[t] for t in TIMESTAMPTZ]), ('to_json', ['date'], [[t] for t in DATE]),
    ('to_json', ['interval'], [[t] for t in INTERVAL]), ('to_json', ['text'], [['a"b\\c\n\t'], ['é'], ['\x01']]), ('to_json', ['bool'], [['t']]), ('to_json', ['json'], [[j] for j in JSON]), ('to_json', ['jsonb'], [[j] for j in JSON]),
    ('to_json', ['_int4'], [['{}'], ['{1,2,NULL}'], ['{{1,2},{3,4}}'], ['[2:3]={5,6}']]), ('to_json', ['_text'], [['{a,"b c",NULL}']]), ('to_json', ['_timestamp'], [['{2020-01-01}']]), ('to_json', ['inet'], [['1.2.3.4/24']]), ('to_json', ['uuid'], [['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11']]), ('to_json', ['bytea'], [['\\x0102']]), ('to_json', ['bpchar'], [['a  ']]),
    ('to_jsonb', ['numeric'], [[n] for n in NUMERIC]), ('to_jsonb', ['float8'], [[n] for n in ['0', '1e20', '1e-7', 'NaN', '0.1']]), ('to_jsonb', ['timestamptz'], [[t] for t in TIMESTAMPTZ]), ('to_jsonb', ['_int4'], [['{}'], ['{1,2,NULL}'], ['{{1,2},{3,4}}']]), ('to_jsonb', ['json'], [[j] for j in JSON]), ('to_jsonb', ['_json'], [['{"{\\"a\\":1}",NULL}']]),
    ('array_to_json', ['_int4', 'bool'], [['{{1,2},{3,4}}', 't'], ['{1,2}', 't'], ['{1,2}', 'f']]),
    ('json_build_object', ['text', 'int4', 'text', 'json'], [['a', '1', 'b', '[1 , 2]'], [None, '1', 'b', '1'], ['a', None, 'é', None]]),
    ('json_build_object', ['text'], [['a']]), ('json_build_object', ['json', 'int4'], [['{}', '1']]), ('json_build_object', ['date', 'bool', 'numeric', '_text'], [['2020-01-01', 't', '1.50', '{a,b}']]),
    ('jsonb_build_object', ['text', 'int4', 'text', 'json'], [['b', '1', 'a', '[1 , 2]'], [None, '1', 'b', '1'], ['a', None, 'a', None]]), ('jsonb_build_object', ['text'], [['a']]), ('jsonb_build_object', ['date', 'bool', 'numeric', '_text'], [['2020-01-01', 't', '1.50', '{a,b}']]),
    ('json_build_array', ['text', 'int4', 'bool', 'float8', 'timestamptz'], [['a', None, 't', '1.5', '2020-01-01 00:00+00']]), ('jsonb_build_array', ['text', 'int4', 'bool', 'float8', 'timestamptz'], [['a', None, 't', '1.5', '2020-01-01 00:00+00']]),
    ('json_object', ['_text', '_text'], [['{a,b}', '{1,2}'], ['{a,b}', '{1}'], ['{a,NULL}', '{1,2}'], ['{}', '{}'], ['{a}', '{NULL}'], ['{{a,b}}', '{{1,2}}']]),
    ('jsonb_object', ['_text', '_text'], [['{a,b}', '{1,2}'], ['{a,b}', '{1}'], ['{a,NULL}', '{1,2}'], ['{}', '{}'], ['{a}', '{NULL}'], ['{{a,b}}', '{{1,2}}']]),
    ('json_object', ['_text'], [['{a,1,b,2}'], ['{{a,1},{b,2}}'], ['{a,1,b}'], ['{{a,1,2}}'], ['{{{a}}}'], ['{NULL,1}'], ['{}']]),
    ('overlaps', ['timestamp', 'timestamp', 'timestamp', 'timestamp'], [[a, b, c, d] for a in ['2000-01-01', None] for b in ['2000-02-01', '2000-01-01', '1999-06-01', None] for c in ['2000-01-15', '2000-02-01', '2000-01-01'] for d in ['2000-03-01', None]]),
    ('overlaps', ['time', 'interval', 'time', 'time'], [['10:00', '1:00', '10:30', '12:00'], ['23:00', '2:00', '00:30', '02:00'], ['10:00', None, '9:00', '11:00']]),
]

DOC = ['{"a": [1, 2, {"b": "x"}], "c": {"d": null, "e": "abc"}, "n": -1.5}', '[1, "2", 3.7, null, true, [4, 5], {"a": 6}]', '{"a": 1}', '12', '"str"', '[]', '{"a": {"a": {"a": 1}}}', '[[1, 2], [3, [4]]]']
QUERIES = ['$', '$.a', 'strict $.a', '$.a[*]', 'strict $.a[*]', '$[*]', 'strict $[*]', '$.*', 'strict $.*', '$.**', 'strict $.**', '$.**{1}', '$.**{last}', '$.**{1 to 2}', '$.**.a', 'strict $.**.a', '$[0]', '$[1 to 3]', '$[last]', '$[last - 1]', '$[5 to 2]', 'strict $[100]', '$[100]', 'strict $[0]', '$["a"]', '$[1.7]', '$[*] ? (@ > 2)', '$[*] ? (@ == null)', '$[*] ? (@ != null)', '$[*] ? (@.a == 6)', '$.a ? (@ > 1)', '$.a[*] ? (@.b == "x").b', '$.c ? (@.e starts with "ab")', '$.c.e ? (@ like_regex "^A" flag "i")', '$.c.e ? (@ like_regex "^A")', '$.a == 1', '$.a[*] > 1', 'strict $.a[*] > 1', '$.a.size()', '$.size()', 'strict $.a.size()', '$.type()', '$[*].type()', '$.n.abs()', '$.n.floor()', '$.n.ceiling()', '$[*].double()', '$.keyvalue().key', '-$.a', '$.n + 1', '1 + $.n * 2', '$.a + 1', '$.x + 1', '$.n / 0', '$.n % 1', '$.n - $v', '$v', '$w', '$ ? (exists(@.a))', '$ ? (!(exists(@.a)))', '$ ? (@.a.b > 1 || exists(@.c))', '$ ? ((@.a > 1) is unknown)', '($.a > 1) is unknown', '!($.a == 1)', '$.a == 1 && $.a == 2', '$.* ? (@.d == null)', '$[*] ? (@ < 3)', '$[*] ? (@ < "3")', 'exists($.a)', 'strict exists($.a.x)', '$.a.a.a', '$[*][*]', '$[*][0]', 'strict $[*].a', '$[*] ? (@.type() == "number")', '$[*] ? (@.type() == "string").double()', '(1).type()', '"a"', '$.c.*', '$.c.* ? (@ != null)', 'lax $.c.d.e', '$.abs()', '$.a[0 to last - 1]', '$[$.a]', '$.a[*] + 1', '+$.n', '-$[*]', '$ ? (@ like_regex "s.r" flag "q")', '$[*] ? (@ == 1 || @ == 3.7)', '$.a ? (@.size() > 2)', '$.c ? (@.d == null)']
CASES += [(f, ['jsonb', 'jsonpath', 'jsonb', 'bool'], [[d, q, '{"v": 2}', silent] for d in DOC for q in QUERIES for silent in (['t', 'f'] if f == 'jsonb_path_query' else ['f'])]) for f in ['jsonb_path_query', 'jsonb_path_exists', 'jsonb_path_match']]
CASES += [(f, ['jsonb', 'jsonpath', 'jsonb', 'bool'], [[d, q, '{"v": 2}', 't'] for d in DOC[:3] for q in QUERIES]) for f in ['jsonb_path_query_array', 'jsonb_path_query_first']]
CASES += [('jsonb_path_query', ['jsonb', 'jsonpath', 'jsonb', 'bool'], [['{}', '$', '[]', 'f'], ['{}', '$x', '{}', 't']])]

COUNTS = {'jsonb_set': 200, 'jsonb_insert': 150, 'jsonb_set_lax': 80, 'date_part': 160, 'extract': 160, 'date_trunc': 120, 'numeric_add': 120,
          'numeric_sub': 60, 'numeric_mul': 120, 'numeric_div': 240, 'numeric_mod': 120, 'timezone': 60, 'jsonb_path_query': 150, 'interval_mul': 80, 'interval_div': 80, 'jsonb_contains': 150,
          'jsonb_cmp': 150, 'jsonb_delete_path': 80, 'jsonb_extract_path': 60, 'json_extract_path': 60, 'timestamp_pl_interval': 100, 'timestamptz_pl_interval': 100, 'network_cmp': 80, 'make_date': 80, 'make_time': 105, 'make_timestamp': 60, 'date_bin': 60, 'numeric_power': 200, 'interval_cmp': 60,
          'justify_interval': 20, 'round': 60, 'trunc': 60, 'jsonb_path_exists': 80, 'width_bucket': 60}

STYLES = ['datestyle=ISO, DMY', 'datestyle=ISO, YMD', 'datestyle=SQL, MDY;timezone=America/New_York', 'datestyle=SQL, DMY;timezone=Europe/Berlin', 'datestyle=Postgres, MDY;timezone=Asia/Kolkata', 'datestyle=Postgres, DMY;timezone=America/St_Johns', 'datestyle=German;timezone=Europe/Moscow']
DATES = ['January 8, 1999', '1999-01-08', '1999-01-18', '1/8/1999', '1/18/1999', '18/1/1999', '01/02/03', '1999-Jan-08', 'Jan-08-1999', '08-Jan-1999', '99-Jan-08', '08-Jan-99', 'Jan-08-99', '19990108', '990108', '1999.008', 'J2451187', 'January 8, 99 BC', '99 Jan 08', '99-08-Jan', '1999 01 08', '1999 08 Jan', '08 01 99', '01 08 99', '99 01 08', 'epoch', 'infinity', '-infinity', 'Jan 8 1999', '8 Jan 1999', '2000-02-30', '2000-13-01', '2000-00-01', '0000-01-01', '1999-1-1 BC', '5874897-12-31', '5874898-01-01', '4714-11-24 BC', '4714-11-23 BC', 'Sat Jan 1 2000', 'foo', '', ' ', '1999-01-08 04:05:06', '1999-01-08T04:05:06Z', '2000-01', '2000', '200', '1999-366', '2000-366', '2000.366', '12345-01-01', '99999', '123456', '01-01-00', '1-1-1', '1/1/1', '31.12.1999', '12.31.1999', 'y2001m02d04', 'Jan 8, 1999 25:00', 'thursday', '1999-01-08 foo', '1999-01-08 +05', "1999'01", 'jan', '1999-jan-32', '20000101 BC', '2000-1-1 AD', 'Juni 1 2000', '10000-01-01', '1999-001']
TIMES = ['04:05:06.789', '04:05:06', '04:05', '040506', '04:05 AM', '04:05 PM', '12:05 AM', '12:05 PM', '13:05 PM', '24:00:00', '24:00:01', '23:59:60', '25:00', '04:05:06.789-8', '04:05:06-08:00', '04:05-08:00', '040506-08', '040506+0730', '04:05:06 PST', '2003-04-12 04:05:06 America/New_York', 'allballs', '04:60', '04:05:61', '4:5', '4', '04:05:06.1234567', '04:05:06.9999999', '', 'foo', '04:05:06 EST5EDT', '040506.789', '04:05:06 Europe/Berlin', '1999-01-08 04:05:06', '04:05:06+16', '04:05:06+15:59:59', '00:00:00 UTC', 'T040506', '040506 am', '0405', 'h04mm05s06', '15:36:39 America/New_York', 'now 5', '11:59:59.9999999', '1:2:3.', '1:2.5']
TIMESTAMPS = ['1999-01-08 04:05:06', '1999-01-08 04:05:06 -8:00', 'January 8 04:05:06 1999 PST', '1999-01-08T04:05:06', '19990108T040506', '1999-01-08 04:05:06.789', '1999-01-08', '2020-03-29 02:30:00', '2020-10-25 02:30:00', '2020-07-01 12:00 CEST', '2020-07-01 12:00 Europe/Berlin', '2020-03-08 02:30 America/New_York', '2020-11-01 01:30 America/New_York', 'epoch', 'infinity', '-infinity', '294276-12-31 23:59:59.999999', '294277-01-01', '4714-11-24 00:00:00 BC', '4714-11-23 23:59 BC', '0044-03-15 12:00 BC', '1999-01-08 24:00:00', '1999-01-08 25:00', '1999-01-08 12:00 PM', '1999-01-08 04:05:06+05:30:15', '1999-01-08 04:05:06 MET DST', '1999-01-08 04:05:06 z', '1999-01-08 04:05:06 Foo/Bar', '1999-01-08 04:05:06 foo', 'Thu Jan 08 04:05:06 1999', 'Thu, 08 Jan 1999 04:05:06 GMT', '08-Jan-1999 04:05:06', '1999-01-08 040506', '1999-01-08 0405', '1999-01-08 04:05:06 +99', 'Jan 8 1999 4:05 PM EST', 'J2451187 04:05', 'J2451187.5', '2451187', '1999-01-08 04', '04:05:06', '', '2000-01-01 00:00:00.9999999', '1850-06-01 00:00', '3000-07-01 00:00', '100000-07-01 00:00', '1999-01-08 04:05:06 AM PM', '1997-02-10 17:32:01 MSK', '2012-01-01 00:00 MSK', '1999-01-08 04:05:06-', '2001-09-22T18:19:20', '2000-01-01 12:00 J', '1999-01-08 04:05:06 EST5EDT', '2020-07-01 12:00 EST', '2020-07-01 12:00 +1234567', '1999-01-08 allballs', '1 2 3 4', '1999-01-08 on 04:05', 'Feb 29 2001', '2001-02-29', 'today foo', '20010101T 10:00', '2001-01-01 10:00:00,5']
INTERVALS = ['1 day', '1-2', '-1-2', '3 4:05:06', '1-2 3 4:05:06', '-1-2 +3 -4:05:06', '1 year 2 months 3 days 4 hours 5 minutes 6 seconds', 'P1Y2M3DT4H5M6S', 'P0001-02-03T04:05:06', 'P-1Y-2M3DT-4H-5M-6S', 'PT0S', '@ 1 minute', '1.5 years', '1.5 months', '1.5 weeks', '1.5 days', '1.5 hours', '0.1 seconds', '1 day ago', '-1 day 2 hours', '1 millennium', '1 century', '1 decade', '1 week', '100 milliseconds', '100 microseconds', '100 us', '1 mon 1 mons', '1 day 1 day', '5', '-5', '1.5', '1:30', '1:30:45.5', '25:61', '100:00', '-1:30', '1 d 2 h', '2147483647 days', '2147483648 days', '178956970 years', '178956971 years', '9223372036854775807 us', '9223372036854775808 us', 'foo', '', '1 foo', '1 year -1 day', 'P1W', 'P1.5D', 'PT1.5S', 'P1Y2', 'P', 'PT', 'P20000101T010203', '1 2 3', '1 2:03', '1 2:03:04', '1 day 24:00:00', '-1 month -1 day', '1 month -1 day 1 second', '0.000001 s', '0.0000005 s', '0.0000015 s', '1e3', '-1.5 days', '- 1 day', '1 day +2 hours -3 minutes', '1 y 2 m', 'interval 1', '1mon', '1 days 2', '1 day 2:3:4.5678901', '0', '-0', '00:00:00.0000001', '1 year 13 months', '12 months', '36500000 days', '1 hour ago 2', 'ago', '1 month 0.5 day', '-1 year 1 month', '-1 day 0:00:01', '1 mon -0:00:00.5', 'year 1', '1 yrs', '1 timezone', '1 quarter', '1-13', '1 day 1', '12:34:56.123456789']
NUMERICS = ['1', '1.50', '-0.00', '1e5', '1.5e-3', '.5', '5.', '.', 'e5', '1e', '--1', '+1', ' 12 ', 'NaN', 'nan', '-nan', 'inf', '-Infinity', '1_000', '0x10', '1e131072', '1e-16384', '12345678901234567890.123456789', '00012', '1 2', '', ' ', '1e+5', '1E-2', '99999.995', '-99999.994', '1.5.5', 'infinity', '+inf', '1e100000', '0e10', '0.000', '1a']
BITS = ['', '1', '101', '10x', 'X1F', 'xg', 'b101', 'B2', '10101010101', ' 1']
INETS = ['1.2.3.4', '1.2.3.4/24', '1.2.3.0/24', '10.1', '10', '10/8', '10.1/16', '1.2.3.4/33', '1.2.3.4/', '1.2.3', '1.2.3.4.5', '256.1.1.1', '::', '::1', '::1/64', 'fe80::1%eth0', '1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7', '::ffff:1.2.3.4', '::1.2.3.4', 'abc', '', '1::2::3', '2001:db8::/32', '2001:db8::1/32', '0.0.0.0/0', '224', '240', '128.1', '1.2.3.4/8', '0xa', '1:2:3:4:5:6:1.2.3.4', '::/0', '1:0:0:2:0:0:0:3', 'FE80::ABCD']
JSONS = JSON + ['{"a":}', '[1,', 'abc', '01', '"a', '{"a" 1}', '{a:1}', '[1 2]', '', ' ', '1.', '-', '-1', '1e5', '1E-3', '.5', 'nul', 'True', '"\\u0041"', '"\\ud83d\\ude00"', '"\\ud83d"', '"\\u00"', '"\\x"', '"tab\there"', '{"a":1,}', '[,]', '{,}', '{}}', '[]]', '"\\u0000"', '{"a":1 "b"}', '{"b":1,"a":2,"aa":3,"b":4}', '[1.0,1.00,1e2,-0]', '1e400', '{"a":1}x', "'a'", '{"a"', '[{"x":[{"y":[]}]}]', '"\\/"', '"\\b\\f\\n\\r\\t"', '\n{\n"a"\n:\n1 2\n}', '1 2', 'true false', 'null,', '@', '[1,"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",x]']
ARRAYS = ['{}', '{1,2}', '{1, 2 ,3}', '{{1,2},{3,4}}', '{1,NULL,null}', '{"1","2"}', '[2:3]={1,2}', '[0:1][1:2]={{1,2},{3,4}}', '[2]={1,2}', '[3:2]={}', '[2:3={1,2}', '[2:3]{1,2}', '[2:3]=1', '[1:3]={1,2}', '{1,2', '1,2}', '{1,,2}', '{,1}', '{1,}', '{1}}', '{1} x', '{{1},{2,3}}', '{{1},2}', '{1,{2}}', '{{}}', '{{},{}}', '{{{{{{{1}}}}}}}', ' {1} ', '{1 2}', '{"1"2}', '{1"2"}', '{\\1}', '{1\\}', '{"1}', '{}{}', '', 'x', '{a}', '[]={1}', '[1:]={1}', '[a:b]={1}', '{"a b","c,d","e\\"f","g\\\\h"}', '{ "x" , y }', '{"",NULL,"NULL"}', '{a b , c}', '{ab\\ }', '{{a,b},{c,d}}', '[-1:0]={a,b}']
FLOATS = ['0', '-0', '1', '1.5', '1e10', '1e15', '1e16', '123456789012345678', '0.1', '0.0001', '0.00001', '1e-5', '1e308', '1e309', '1e-308', '1e-320', '1e-400', 'NaN', 'inf', '-Infinity', 'infinit', '', ' 1 ', '1e', '.5', '5.', '0x10', '1d', '3.4028235e38', '3.5e38', '1e-45', '1e-46', '16777217', '1234567', '123456', '0.3', '100000', '1e6', '2.5e-3', '9007199254740993', '1.7976931348623157e308', '5e-324', '-1.5e-7', 'nan ', '+1', '--1']
INTS = ['0', '1', '-1', ' 12 ', '+5', '32767', '32768', '-32768', '-32769', '2147483647', '2147483648', '-2147483649', '9223372036854775807', '9223372036854775808', '', ' ', 'a', '1.5', '1a', '0x1', '--1', '1 2', '٣']

TEXTS = [
    ('', ['numeric', 'numeric(5,2)', 'numeric(4,0)', 'numeric(3,5)', 'numeric(2,-3)'], NUMERICS),
    ('', ['date'], DATES), ('', ['time', 'timetz', 'time(3)', 'timetz(0)'], TIMES), ('', ['timestamp', 'timestamptz', 'timestamp(2)', 'timestamptz(0)'], TIMESTAMPS + DATES),
    ('timezone=America/New_York', ['timestamptz'], TIMESTAMPS), ('timezone=Asia/Kathmandu', ['timestamptz'], TIMESTAMPS), ('timezone=<-03>+03', ['timestamptz'], TIMESTAMPS[:20]),
    ('', ['interval', 'interval year', 'interval month', 'interval day', 'interval hour', 'interval minute', 'interval second', 'interval year to month', 'interval day to second', 'interval hour to minute', 'interval minute to second', 'interval(2)', 'interval second(3)', 'interval day to hour'], INTERVALS),
    ('intervalstyle=postgres_verbose', ['interval'], INTERVALS), ('intervalstyle=sql_standard', ['interval'], INTERVALS), ('intervalstyle=iso_8601', ['interval'], INTERVALS),
    ('', ['bit(3)', 'varbit', 'varbit(4)', 'bit'], BITS), ('', ['inet', 'cidr'], INETS), ('', ['json', 'jsonb'], JSONS), ('', ['int4[]', 'text[]', 'numeric[]'], ARRAYS),
    ('', ['float8', 'float4'], FLOATS), ('extra_float_digits=0', ['float8', 'float4'], FLOATS), ('extra_float_digits=-3', ['float8', 'float4'], FLOATS), ('', ['int2', 'int4', 'int8', 'oid'], INTS),
    ('', ['bool'], ['t', 'true', 'TRUE', 'tru', 'y', 'yes', 'on', 'o', 'of', 'off', '1', '0', '10', '', ' t ', 'f', 'n', 'no', 'maybe']),
    ('', ['varchar(3)', 'char(3)', 'text', 'name', 'char', 'bpchar'], ['', 'a', 'abc', 'abcd', 'ab  ', 'é日本x', 'x' * 70, '  a ']), ('', ['"char"'], ['', 'a', 'abc', 'é', '\\101', '\\377']),
    ('', ['bytea'], ['', 'abc', '\\x', '\\x01ff', '\\x1', '\\xzz', '\\x 01 02', 'a\\\\b', 'a\\001', 'a\\b', 'é', '\\400']), ('bytea_output=escape', ['bytea'], ['', 'abc', '\\x0001ff', 'a\\\\b', 'é']),
    ('', ['uuid'], ['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', '{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}', 'a0eebc999c0b4ef8bb6d6bb9bd380a11', 'a0eebc99', '', '{a0eebc999c0b4ef8bb6d6bb9bd380a11', 'a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1g', 'a-0eebc999c0b4ef8bb6d6bb9bd380a11']),
    ('', ['int2vector', 'oidvector'], ['', '1 2 3', ' 1  2 ', '1 x', '99999999999']), ('', ['tid'], ['(0,1)', '(4294967295,65535)', '(1,2', 'x']), ('', ['pg_lsn'], ['0/0', '16/B374D848', 'x', '1/']), ('', ['macaddr'], ['08:00:2b:01:02:03', '08-00-2b-01-02-03', '08002b:010203', '0800.2b01.0203', '08002b010203', 'x', '08:00:2b:01:02']),
]
PATHS = ['$.a', 'strict $.a[*].b ? (@ > 1 && @.c == "x")', '1 + 2 * 3', '(1 + 2) * 3', '$.a == 1', '($.a + 1).abs()', '-$.a', '$[1, 2 to last, last - 1]', '$.**{1 to 3}.b', '$.**', '$.**{last}', '$.**{2}',
    '$.a ? (exists(@.b) || !(@ like_regex "^a" flag "i"))', '$x + $"y z"', '', ' ', '$.', '@.a', 'last', '$[last', 'lax $."a b".*', '1.5.type()', '(1.5).type()', '$.a ? (@ starts with "x")', '$.a ? ((@ > 1) is unknown)', 'null', 'true', '"a"', '1e3', '.5', '1.', '1a', '$.abs', '$ /* c */ . a', '$.a <> 1',
    '$ ? (@ like_regex "(")', '$ ? (@ like_regex "a" flag "z")', '$ ? (@ like_regex "a" flag "x")', '$.datetime()', '$.a.b[*] ? (@.c > 3).d', '$ ? (@.a + 1 > 2 - -1)', '"\\u0041\\n"', '$.a\\u0062', '!($.a == 1)', '$.a == 1 || $.b == 2 && $.c == 3', '($.a == 1 || $.b == 2) && $.c == 3', '$[$.a]', '$ ? ($.a)', 'exists($.a)', 'strict $', '-1', '- 1', '1 - 1 - 1', '1 - (1 - 1)', '2 * (3 + 4)', '-(1 + 2)', '$ ? (!exists(@.a))', '$.a.size()', '$.keyvalue()', '($).a', '(($.a)).b', '$.a[*]', '$[*] ? (@ == null)', '$.é', '$."é b"', 'strict', '$$', '$ $', '$.a[', '$.a]', '(', ')', '$.a..b', '$.a.*.b', '$.type', '$.foo()', '$ ? (@ like_regex "a" flag "smi")', '$.a starts with $x', '($.a == 1).type()', '$.*[0 to 1, 3]', '1 == 1 == 1', '$ ? (1 < 2)', 'TRUE', 'Null', '$.last', '$[LAST]', '$ ? (@ > 1', '"\\x41"', '"abc', '$.a /* x', '$.**{1 to last}', '$.**{last to 1}', '0x10', '1.2.3']
TEXTS += [('', ['jsonpath'], PATHS)]
TEXTS += [(style, ['date', 'timestamp', 'timestamptz'], DATES + TIMESTAMPS) for style in STYLES]
