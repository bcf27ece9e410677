import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;

/** What tools on JDBC do, against a served clinic: one line for each act that went well, and an error for the first that did not. */
public class Jdbc {
    static final String BY_WARD = "SELECT ward, COUNT(*) AS n, AVG(stay) AS stay FROM visits GROUP BY ward";

    static int count(ResultSet rows) throws SQLException {
        int number = 0;
        while (rows.next()) {
            number++;
        }
        return number;
    }

    static void tell(String what, Object found) {
        System.out.println(what + "=" + found);
    }

    public static void main(String[] words) throws Exception {
        Properties settings = new Properties();
        settings.put("user", "ada");
        settings.put("password", words[1]);
        settings.put("options", "-c discreet.epsilon=0.1");
        settings.put("ApplicationName", "tests");
        try (Connection connection = DriverManager.getConnection("jdbc:postgresql://127.0.0.1:" + words[0] + "/clinic", settings)) {
            describe(connection.getMetaData());
            ask(connection);
        }
    }

    static void describe(DatabaseMetaData facts) throws SQLException {
        tell("product", facts.getDatabaseProductVersion());
        tell("schemas", count(facts.getSchemas()));
        tell("tables", count(facts.getTables(null, "public", "%", new String[] {"TABLE", "VIEW"})));
        tell("columns", count(facts.getColumns(null, "public", "visits", "%")));
        tell("primary keys", count(facts.getPrimaryKeys(null, "public", "visits")));
        tell("imported keys", count(facts.getImportedKeys(null, "public", "visits")));
        tell("indexes", count(facts.getIndexInfo(null, "public", "visits", false, false)));
        tell("types", count(facts.getTypeInfo()) > 10);
        count(facts.getTablePrivileges(null, "public", "visits"));
        tell("privileges", true);
    }

    static void ask(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            ResultSet rows = statement.executeQuery(BY_WARD);
            tell("type", rows.getMetaData().getColumnTypeName(2));
            tell("bar", rows.getMetaData().getColumnName(3));
            tell("rows", count(rows));
            statement.setMaxRows(2);
            tell("most rows", count(statement.executeQuery(BY_WARD)));
        }
        try (PreparedStatement statement = connection.prepareStatement("SELECT COUNT(*) AS n FROM visits WHERE age >= ?")) {
            tell("described", statement.getMetaData().getColumnName(1));
            long first = 0;
            boolean same = true;
            for (int time = 0; time < 8; time++) {  // from the fifth time on in binary
                statement.setInt(1, 40);
                ResultSet rows = statement.executeQuery();
                rows.next();
                same &= time == 0 || rows.getLong(1) == first;
                first = rows.getLong(1);
            }
            tell("prepared", same);
        }
        connection.setReadOnly(true);
        connection.setAutoCommit(false);
        connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        try (Statement statement = connection.createStatement()) {
            tell("transaction", count(statement.executeQuery(BY_WARD)));
        }
        connection.commit();
        tell("valid", connection.isValid(2));
    }
}
