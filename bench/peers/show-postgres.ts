import pg from "pg";

/** As a new session of this database finds it. */
export async function showPostgres(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    "SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit",
  );
  await client.end();
  return `fsync=${rows[0].fsync}, synchronous_commit=${rows[0].commit}`;
}
