// Prints the key type of each kind of parameter that docs/drivers.md names, and at which run JDBC gets
// a plan of the server that does not know the keys; see test.py.

import java.math.BigDecimal;
import java.sql.*;
import java.time.*;
import java.util.*;

public class KeyTypes {
  interface Setter {
    void set(PreparedStatement statement) throws SQLException;
  }

  public static void main(String[] arguments) throws SQLException {
    Connection connection = DriverManager.getConnection(arguments[0]);
    LocalDate day = LocalDate.of(2026, 1, 1);
    Map<String, Setter> setters = Map.of(
        "setLong", s -> s.setLong(1, 1),
        "setString", s -> s.setString(1, "x"),
        "setDouble", s -> s.setDouble(1, 1.5),
        "setBigDecimal", s -> s.setBigDecimal(1, new BigDecimal("1.5")),
        "setBoolean", s -> s.setBoolean(1, true),
        "setBytes", s -> s.setBytes(1, new byte[] {1}),
        "setObject(UUID)", s -> s.setObject(1, new UUID(0, 1)),
        "setObject(LocalDate)", s -> s.setObject(1, day),
        "setObject(LocalDateTime)", s -> s.setObject(1, day.atStartOfDay()),
        "setObject(OffsetDateTime)", s -> s.setObject(1, day.atStartOfDay().atOffset(ZoneOffset.UTC)));
    for (Map.Entry<String, Setter> setter : setters.entrySet()) {
      PreparedStatement statement =
          connection.prepareStatement("SELECT (cuckoo_info(cuckoo_new() + ?)).key_type");
      setter.getValue().set(statement);
      ResultSet row = statement.executeQuery();
      row.next();
      System.out.println(setter.getKey() + "\t" + row.getString(1));
    }
    String[] keys = new String[1000];
    Arrays.fill(keys, "x");
    PreparedStatement many = connection.prepareStatement("SELECT FROM pages WHERE url = ANY (?)");
    many.setArray(1, connection.createArrayOf("text", keys));
    PreparedStatement plans = connection.prepareStatement( // its pattern does not match itself
        "SELECT max(generic_plans) FROM pg_prepared_statements WHERE statement ~ '= A[N]Y'");
    int run = 0;
    for (boolean generic = false; !generic && run < 20; run++) {
      many.executeQuery();
      ResultSet found = plans.executeQuery();
      generic = found.next() && found.getInt(1) > 0;
    }
    System.out.println("run " + run);
  }
}
