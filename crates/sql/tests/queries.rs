//! Queries without tables.

mod common;

use common::{run, session};

#[test]
fn expressions_have_the_values_of_postgresql() {
    let mut session = session();
    for (sql, expected) in [
        ("SELECT 1 + 1", "2"),
        ("SELECT 1.5 * 2, 7 / 2, 7 % 3, 2 ^ 3", "3.0|3|1|8"),
        ("SELECT 'a' || 'b', upper('x'), length('äö')", "ab|X|2"),
        ("SELECT CASE 1 WHEN 2 THEN 'a' ELSE 'b' END", "b"),
        ("SELECT 3 IN (1, 2, 3), 4 = ANY(ARRAY[1, 2])", "t|f"),
        (
            "SELECT sum(x), count(*), avg(x) FROM (VALUES (1), (2), (4)) AS v(x)",
            "7|3|2.3333333333333333",
        ),
        (
            "SELECT x, count(*) FROM (VALUES ('a'), ('b'), ('a')) v(x) GROUP BY x ORDER BY 1",
            "a|2\nb|1",
        ),
        ("SELECT * FROM generate_series(1, 3) g", "1\n2\n3"),
        (
            "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 5) \
             SELECT sum(n) FROM t",
            "15",
        ),
        (
            "SELECT row_number() OVER (ORDER BY x DESC), x \
             FROM (VALUES (1), (3), (2)) v(x) ORDER BY x",
            "3|1\n2|2\n1|3",
        ),
        ("SELECT date '2024-01-31' + interval '1 month'", "2024-02-29 00:00:00"),
        ("SELECT '42'::int + 1, 1/0", "ERROR 22012: division by zero"),
        ("SELECT nope", "ERROR 42703: column \"nope\" does not exist"),
        ("SELECT (1, 2) < (1, 3), (SELECT 5), EXISTS (SELECT 1 WHERE false)", "t|5|f"),
        (
            "SELECT a.x, b.y FROM (VALUES (1), (2)) a(x) \
             LEFT JOIN (VALUES (2, 'z')) b(x, y) USING (x)",
            "1|\n2|z",
        ),
        ("SELECT array_agg(x ORDER BY x DESC) FROM unnest(ARRAY[1, 3, 2]) x", "{3,2,1}"),
        ("SELECT 1 UNION SELECT 2 UNION SELECT 1 ORDER BY 1", "1\n2"),
    ] {
        assert_eq!(run(&mut session, sql), expected, "{sql}");
    }
}
