// RunJdbc.java CASES [java.sql] - tests/drivers.sh runs it; java.sql: with the older types of time
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.*;
import java.time.*;
import java.util.Arrays;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import org.postgresql.util.PGInterval;
import org.postgresql.util.PGobject;

public class RunJdbc {
    static final String REFUSED = "SELECT prescient.enqueue('', '', '', '')";
    static boolean older;

    static PGobject typed(String type, String text) {
        try {
            PGobject value = new PGobject();
            value.setType(type);
            value.setValue(text);
            return value;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    static Object instant(String text) {
        OffsetDateTime at = OffsetDateTime.parse(text);
        return older ? Timestamp.from(at.toInstant()) : at;
    }

    static Object local(String text) {
        LocalDateTime at = LocalDateTime.parse(text);
        return older ? Timestamp.valueOf(at) : at;
    }

    static Object day(String text) {
        LocalDate day = LocalDate.parse(text);
        return older ? java.sql.Date.valueOf(day) : day;
    }

    static final Map<String, Function<String, Object>> KINDS = Map.ofEntries(
        Map.entry("smallint", Short::valueOf), Map.entry("int", Integer::valueOf), Map.entry("bigint", Long::valueOf),
        Map.entry("text", text -> text), Map.entry("uuid", UUID::fromString),
        Map.entry("timestamptz", RunJdbc::instant), Map.entry("timestamp", RunJdbc::local),
        Map.entry("date", RunJdbc::day),
        Map.entry("interval", text -> new PGInterval(0, 0, 0, 0, 0, Integer.parseInt(text))),
        Map.entry("json", text -> typed("json", text)), Map.entry("jsonb", text -> typed("jsonb", text)));

    static final Map<String, String> ARRAYS = Map.of("smallint", "int2", "int", "int4", "bigint", "int8");

    static void bind(PreparedStatement statement, int n, String param) throws SQLException {
        String kind = param.substring(0, param.indexOf('='));
        String text = param.substring(param.indexOf('=') + 1);
        if (!kind.endsWith("[]")) {
            statement.setObject(n, KINDS.get(kind).apply(text));
            return;
        }
        String element = kind.substring(0, kind.length() - 2);
        Object[] values = Arrays.stream(text.split("\\|")).map(KINDS.get(element)).toArray();
        String type = ARRAYS.getOrDefault(element, element);
        statement.setArray(n, statement.getConnection().createArrayOf(type, values));
    }

    static String run(Connection db, String[] part) throws SQLException {
        try (PreparedStatement statement = db.prepareStatement(part[2].replaceAll("\\$\\d+", "?"))) {
            for (int n = 3; n < part.length; n++)
                bind(statement, n - 2, part[n]);
            ResultSet found = statement.executeQuery();
            found.next();
            return found.getString(1);
        }
    }

    static String runCase(Connection db, String[] part) throws SQLException {
        if (part[1].equals("savepoint")) {
            Savepoint before = db.setSavepoint();
            try (Statement statement = db.createStatement()) {
                statement.execute(REFUSED);
            } catch (SQLException e) {
                db.rollback(before);
            }
        }
        String found = run(db, part);
        if (part[1].equals("rollback"))
            db.rollback();
        else
            db.commit();
        return found;
    }

    public static void main(String[] args) throws Exception {
        older = args.length > 1;
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        Map<String, String> env = System.getenv();
        String url = "jdbc:postgresql://" + env.get("PGHOST") + ":" + env.get("PGPORT") + "/" + env.get("PGDATABASE");
        try (Connection db = DriverManager.getConnection(url, env.get("PGUSER"), "")) {
            db.setAutoCommit(false);
            for (String line : Files.readAllLines(Path.of(args[0]))) {
                String[] part = line.split("\t");
                try {
                    out.println(part[0] + "\t" + runCase(db, part));
                } catch (SQLException e) {
                    db.rollback();
                    out.println(part[0] + "\terror\t" + e.getSQLState() + "\t" + e.getMessage().replaceAll("\\s+", " "));
                }
            }
        }
        out.flush();
    }
}
