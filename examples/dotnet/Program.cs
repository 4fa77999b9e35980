// Takes orders and writes invoices: dotnet run -- postgres|sqlserver "CONNECTION STRING". The message about an order is
// written in the order's transaction; an invoice is written together with the ack of its message.
using System.Data.Common;
using Microsoft.Data.SqlClient;
using Npgsql;

var postgres = args[0] == "postgres";
await using DbConnection db = postgres ? new NpgsqlConnection(args[1]) : new SqlConnection(args[1]);
await db.OpenAsync();

const string PostgresTables = """
    CREATE TABLE IF NOT EXISTS orders (number int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, cents int NOT NULL);
    CREATE TABLE IF NOT EXISTS invoices (body text NOT NULL);
    """;
const string SqlServerTables = """
    IF OBJECT_ID(N'orders') IS NULL CREATE TABLE orders (number int IDENTITY PRIMARY KEY, cents int NOT NULL);
    IF OBJECT_ID(N'invoices') IS NULL CREATE TABLE invoices (body nvarchar(max) NOT NULL);
    """;
const string PostgresOrder = """INSERT INTO orders (cents) VALUES (@cents) RETURNING number""";
const string SqlServerOrder = """INSERT INTO orders (cents) OUTPUT inserted.number VALUES (@cents)""";
const string PostgresEnqueue = """SELECT pawl.outbox_enqueue('order.placed', @payload::text, queue => 'invoices')""";
const string SqlServerEnqueue = """EXEC pawl.outbox_enqueue @topic = N'order.placed', @payload = @payload, @queue = N'invoices'""";
const string PostgresClaim = """SELECT id, topic, payload, retry_count FROM pawl.outbox_claim(@owner, 30, 50, 'invoices')""";
const string SqlServerClaim = """EXEC pawl.outbox_claim @owner_token = @owner, @lease_seconds = 30, @batch_size = 50, @queue = N'invoices'""";
const string PostgresAck = """SELECT pawl.outbox_ack(@owner, ARRAY[@id]::bigint[])""";
const string SqlServerAck = """DECLARE @ids nvarchar(max) = CONCAT(N'[', @id, N']'), @n int; EXEC @n = pawl.outbox_ack @owner_token = @owner, @ids = @ids; SELECT @n""";
const string PostgresAbandon = """SELECT pawl.outbox_abandon(@owner, ARRAY[@id]::bigint[], error => @error)""";
const string SqlServerAbandon = """DECLARE @ids nvarchar(max) = CONCAT(N'[', @id, N']'); EXEC pawl.outbox_abandon @owner_token = @owner, @ids = @ids, @error = @error""";
const string Invoice = """INSERT INTO invoices (body) VALUES (@body)""";

await Run(null, postgres ? PostgresTables : SqlServerTables);
foreach (var cents in new[] { 1250, -1, 4400 })
{
    await using var tx = await db.BeginTransactionAsync();
    var number = await Run(tx, postgres ? PostgresOrder : SqlServerOrder, ("cents", cents));
    await Run(tx, postgres ? PostgresEnqueue : SqlServerEnqueue, ("payload", $$"""{"number":{{number}},"cents":{{cents}}}"""));
    if (cents < 0) continue; // disposed without a commit: neither the order nor its message
    await tx.CommitAsync();
    Console.WriteLine($"order {number}");
}

while (true)
{
    var owner = Guid.NewGuid(); // a fresh token for each claim
    var claimed = new List<(long Id, string Payload)>();
    await using (var claim = Command(null, postgres ? PostgresClaim : SqlServerClaim, ("owner", owner)))
    await using (var rows = await claim.ExecuteReaderAsync())
        while (await rows.ReadAsync())
            claimed.Add((rows.GetInt64(rows.GetOrdinal("id")), rows.GetString(rows.GetOrdinal("payload"))));
    if (claimed.Count == 0) break; // a worker would wait for a second
    foreach (var (id, payload) in claimed)
    {
        try
        {
            await using var tx = await db.BeginTransactionAsync();
            await Run(tx, Invoice, ("body", payload));
            var held = Convert.ToInt32(await Run(tx, postgres ? PostgresAck : SqlServerAck, ("owner", owner), ("id", id)));
            if (held == 0) continue; // the lease was lost: another worker writes the invoice
            await tx.CommitAsync();
            Console.WriteLine($"invoice {payload}");
        }
        catch (DbException e)
        {
            await Run(null, postgres ? PostgresAbandon : SqlServerAbandon, ("owner", owner), ("id", id), ("error", e.Message));
        }
    }
}

DbCommand Command(DbTransaction? tx, string text, params (string Name, object Value)[] values)
{
    var command = db.CreateCommand();
    (command.CommandText, command.Transaction) = (text, tx);
    foreach (var (name, value) in values)
    {
        var p = command.CreateParameter();
        (p.ParameterName, p.Value) = (name, value);
        command.Parameters.Add(p);
    }
    return command;
}

async Task<object?> Run(DbTransaction? tx, string text, params (string Name, object Value)[] values)
{
    await using var command = Command(tx, text, values);
    return await command.ExecuteScalarAsync();
}
