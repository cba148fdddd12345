import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.*;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.*;
import org.postgresql.PGConnection;
import org.postgresql.util.PSQLException;

/**
 * The JDBC driver: parameters, server-side prepared statements with binary transfer, batches,
 * fetch sizes, types, generated keys, savepoints, COPY, metadata, cancelling.
 */
public class JdbcClient {
    interface Part {
        void run(Connection connection) throws Exception;
    }

    interface Work {
        void run() throws Exception;
    }

    static void equal(Object got, Object wanted) {
        if (!Objects.deepEquals(got, wanted)) {
            throw new AssertionError(got + " instead of " + wanted);
        }
    }

    static SQLException fails(String state, Work work) throws Exception {
        try {
            work.run();
        } catch (SQLException error) {
            equal(error.getSQLState(), state);
            return error;
        }
        throw new AssertionError("no error " + state);
    }

    /** With an sslmode other than disable the driver connects with TLS or not at all. */
    static Connection connect(String options) throws SQLException {
        Map<String, String> env = System.getenv();
        Properties properties = new Properties();
        properties.setProperty("user", env.get("PGUSER"));
        properties.setProperty("password", env.getOrDefault("PGPASSWORD", ""));
        properties.setProperty("sslmode", env.get("PGSSLMODE"));
        if (env.containsKey("PGSSLROOTCERT")) {
            properties.setProperty("sslrootcert", env.get("PGSSLROOTCERT"));
        }
        String url = "jdbc:postgresql://" + env.get("PGHOST") + ":" + env.get("PGPORT") + "/"
                + env.get("PGDATABASE") + "?connectTimeout=20&socketTimeout=90" + options;
        return DriverManager.getConnection(url, properties);
    }

    static void run(Connection connection, String... statements) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String text : statements) {
                statement.execute(text);
            }
        }
    }

    static Object one(Connection connection, String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            equal(rows.next(), true);
            return rows.getObject(1);
        }
    }

    static final Object[][] VALUES = {
        {"boolean", true},
        {"integer", Integer.MIN_VALUE},
        {"bigint", Long.MAX_VALUE},
        {"numeric(20, 5)", new BigDecimal("123456789012.34500")},
        {"real", 0.5f},
        {"double precision", 1e-300},
        {"text", "gr\u00fc\u00dfe \u4e16\u754c ' \\"},
        {"uuid", UUID.fromString("12345678-1234-5678-1234-567812345678")},
        {"date", LocalDate.of(2024, 2, 29)},
        {"timestamp", LocalDateTime.of(1999, 12, 31, 23, 59, 59, 123456000)},
        {"timestamptz", OffsetDateTime.of(2024, 7, 1, 12, 0, 0, 1000, ZoneOffset.UTC)},
    };

    /** Each value goes through a column often enough for the driver to switch to binary. */
    static void types(Connection connection) throws Exception {
        for (Object[] pair : VALUES) {
            run(connection, "CREATE TABLE t (id int, v " + pair[0] + ")");
            try (PreparedStatement insert = connection.prepareStatement("INSERT INTO t VALUES (?, ?)");
                    PreparedStatement select = connection.prepareStatement("SELECT v FROM t WHERE id = ?")) {
                for (int i = 0; i < 8; i++) {
                    insert.setInt(1, i);
                    insert.setObject(2, pair[1]);
                    equal(insert.executeUpdate(), 1);
                    select.setInt(1, i);
                    try (ResultSet rows = select.executeQuery()) {
                        equal(rows.next(), true);
                        equal(rows.getObject(1, pair[1].getClass()), pair[1]);
                    }
                }
            }
            run(connection, "DROP TABLE t");
        }
    }

    static void moreTypes(Connection connection) throws Exception {
        run(connection, "CREATE TABLE m (b bytea, a int[], s text[], j jsonb, n int)");
        byte[] bytes = {0, 1, (byte) 255};
        try (PreparedStatement insert = connection.prepareStatement(
                "INSERT INTO m VALUES (?, ?, ?, ?::jsonb, ?)")) {
            insert.setBytes(1, bytes);
            insert.setArray(2, connection.createArrayOf("int4", new Integer[] {1, null, 3}));
            insert.setArray(3, connection.createArrayOf("text", new String[] {"a,b", "\"", null}));
            insert.setString(4, "{\"b\": 1, \"a\": [true]}");
            insert.setNull(5, Types.INTEGER);
            insert.executeUpdate();
        }
        for (int i = 0; i < 8; i++) {
            try (PreparedStatement select = connection.prepareStatement("SELECT * FROM m");
                    ResultSet rows = select.executeQuery()) {
                equal(rows.next(), true);
                equal(rows.getBytes(1), bytes);
                equal(rows.getArray(2).getArray(), new Integer[] {1, null, 3});
                equal(rows.getArray(3).getArray(), new String[] {"a,b", "\"", null});
                equal(rows.getString(4), "{\"a\": [true], \"b\": 1}");
                rows.getInt(5);
                equal(rows.wasNull(), true);
            }
        }
    }

    static void batches(Connection connection) throws Exception {
        run(connection, "CREATE TABLE item (id serial PRIMARY KEY, name text UNIQUE, n int CHECK (n > 0))");
        try (PreparedStatement insert = connection.prepareStatement(
                "INSERT INTO item (name, n) VALUES (?, ?)", Statement.RETURN_GENERATED_KEYS)) {
            for (int i = 1; i <= 100; i++) {
                insert.setString(1, "item " + i);
                insert.setInt(2, i);
                insert.addBatch();
            }
            equal(Arrays.stream(insert.executeBatch()).sum(), 100);
            ResultSet keys = insert.getGeneratedKeys();
            for (int i = 1; i <= 100; i++) {
                equal(keys.next(), true);
                equal(keys.getInt("id"), i);
            }
        }
    }

    /** A fetch size opens a portal and asks for rows in pieces. */
    static void fetchSize(Connection connection) throws Exception {
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.setFetchSize(7);
            ResultSet rows = statement.executeQuery("SELECT id FROM item ORDER BY id");
            int count = 0;
            while (rows.next()) {
                equal(rows.getInt(1), ++count);
            }
            equal(count, 100);
        }
        connection.commit();
        connection.setAutoCommit(true);
    }

    static void transactions(Connection connection) throws Exception {
        connection.setAutoCommit(false);
        run(connection, "INSERT INTO item (name, n) VALUES ('kept', 1)");
        Savepoint savepoint = connection.setSavepoint("s");
        SQLException error = fails("23505", () -> run(connection, "INSERT INTO item (name, n) VALUES ('kept', 1)"));
        equal(((PSQLException) error).getServerErrorMessage().getConstraint(), "item_name_key");
        fails("25P02", () -> run(connection, "SELECT 1"));
        connection.rollback(savepoint);
        connection.commit();
        run(connection, "DELETE FROM item");
        connection.rollback();
        connection.setAutoCommit(true);
        equal(one(connection, "SELECT count(*) FROM item"), 101L);
        fails("23514", () -> run(connection, "INSERT INTO item (name, n) VALUES ('zero', 0)"));
        connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
        equal(connection.getTransactionIsolation(), Connection.TRANSACTION_SERIALIZABLE);
        connection.setReadOnly(true);
        connection.setAutoCommit(false);
        fails("25006", () -> run(connection, "DELETE FROM item"));
        connection.rollback();
        connection.setAutoCommit(true);
        connection.setReadOnly(false);
    }

    static void copying(Connection connection) throws Exception {
        run(connection, "CREATE TABLE c (id int, name text)");
        var copy = connection.unwrap(PGConnection.class).getCopyAPI();
        byte[] data = "1\tone\n2\t\\N\n".getBytes(StandardCharsets.UTF_8);
        equal(copy.copyIn("COPY c FROM STDIN", new ByteArrayInputStream(data)), 2L);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        equal(copy.copyOut("COPY c TO STDOUT", out), 2L);
        equal(out.toByteArray(), data);
    }

    static List<String> column(ResultSet rows, String name) throws SQLException {
        List<String> values = new ArrayList<>();
        while (rows.next()) {
            values.add(rows.getString(name));
        }
        return values;
    }

    static void metadata(Connection connection) throws Exception {
        run(connection, "CREATE TABLE child (item_id int REFERENCES item ON DELETE CASCADE, x numeric(6, 2) NOT NULL)");
        DatabaseMetaData meta = connection.getMetaData();
        equal(meta.getDatabaseProductName(), "PostgreSQL");
        equal(meta.getDatabaseMajorVersion(), 15);
        equal(column(meta.getTables(null, "public", "%", new String[] {"TABLE"}), "TABLE_NAME"),
                List.of("c", "child", "item", "m"));
        equal(column(meta.getColumns(null, "public", "child", "%"), "TYPE_NAME"), List.of("int4", "numeric"));
        equal(column(meta.getPrimaryKeys(null, "public", "item"), "COLUMN_NAME"), List.of("id"));
        equal(column(meta.getImportedKeys(null, "public", "child"), "PKTABLE_NAME"), List.of("item"));
        equal(column(meta.getIndexInfo(null, "public", "item", true, false), "INDEX_NAME"),
                List.of("item_name_key", "item_pkey"));
        try (PreparedStatement select = connection.prepareStatement("SELECT x, item_id FROM child WHERE x > ?")) {
            ResultSetMetaData columns = select.getMetaData();
            equal(columns.getPrecision(1), 6);
            equal(columns.getScale(1), 2);
            equal(columns.isNullable(1), ResultSetMetaData.columnNoNulls);
            equal(columns.getTableName(2), "child");
            equal(select.getParameterMetaData().getParameterTypeName(1), "numeric");
        }
    }

    static void cancelling(Connection connection) throws Exception {
        try (Statement statement = connection.createStatement()) {
            Timer timer = new Timer(true);
            timer.schedule(new TimerTask() {
                @Override
                public void run() {
                    try {
                        statement.cancel();
                    } catch (SQLException ignored) {
                        // The statement that goes on sleeping will say so.
                    }
                }
            }, 700);
            fails("57014", () -> statement.execute("SELECT pg_sleep(60)"));
            statement.setQueryTimeout(1);
            fails("57014", () -> statement.execute("SELECT pg_sleep(60)"));
        }
        equal(one(connection, "SELECT 1"), 1);
    }

    public static void main(String[] args) throws Exception {
        List<Part> parts = List.of(JdbcClient::types, JdbcClient::moreTypes,
                JdbcClient::batches, JdbcClient::fetchSize, JdbcClient::transactions,
                JdbcClient::copying, JdbcClient::metadata, JdbcClient::cancelling);
        for (Part part : parts) {
            try (Connection connection = connect("")) {
                part.run(connection);
            }
        }
        for (String mode : List.of("simple", "extendedForPrepared", "extendedCacheEverything")) {
            try (Connection connection = connect("&preferQueryMode=" + mode)) {
                run(connection, "DROP TABLE IF EXISTS t");
                types(connection);
            }
        }
    }
}
