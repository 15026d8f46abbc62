import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Writes to a server that is killed. `write URL CONNECTIONS`: each connection inserts 1, 2, 3, ... until it breaks; then a line
 * "connection last" for each says what was acknowledged. `read URL` prints "connection rows last" of what is there.
 */
public final class Survive {
    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("read")) {
            read(arguments[1]);
            return;
        }
        int connections = Integer.parseInt(arguments[2]);
        try (Connection first = DriverManager.getConnection(arguments[1]); Statement statement = first.createStatement()) {
            statement.execute("DROP TABLE IF EXISTS dbo.survive; CREATE TABLE dbo.survive (connection int, n int, PRIMARY KEY (connection, n))");
        }
        ExecutorService pool = Executors.newFixedThreadPool(connections);
        for (int i = 0; i < connections; i++) {
            int connection = i;
            pool.submit(() -> write(arguments[1], connection));
        }
        pool.shutdown();
        pool.awaitTermination(120, TimeUnit.SECONDS);
        System.out.println("end");
    }

    private static void write(String url, int number) {
        int acknowledged = 0;
        try (Connection connection = DriverManager.getConnection(url);
                PreparedStatement insert = connection.prepareStatement("INSERT dbo.survive VALUES (?, ?)")) {
            insert.setInt(1, number);
            while (true) {
                insert.setInt(2, acknowledged + 1);
                insert.executeUpdate();
                acknowledged++;
            }
        } catch (SQLException broken) {
            System.out.println(number + " " + acknowledged);
        }
    }

    private static void read(String url) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT connection, COUNT(*), MAX(n) FROM dbo.survive GROUP BY connection")) {
            while (rows.next()) {
                System.out.println(rows.getInt(1) + " " + rows.getInt(2) + " " + rows.getInt(3));
            }
        }
        System.out.println("end");
    }
}
