import type pg from "pg";

const REFUSE = `CREATE OR REPLACE FUNCTION disk_is_full() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN RAISE EXCEPTION 'could not extend a file: No space left on device' USING ERRCODE = 'disk_full'; END $$`;

/** From now on no table takes another row, or another version of one; or all of them do again. */
export async function refuseRows(client: pg.Client, refuses: boolean): Promise<void> {
  const toChange = (table: string) =>
    refuses
      ? `CREATE OR REPLACE TRIGGER disk_is_full BEFORE INSERT OR UPDATE ON ${table}
          FOR EACH STATEMENT EXECUTE FUNCTION disk_is_full()`
      : `DROP TRIGGER IF EXISTS disk_is_full ON ${table}`;
  // A process that is stopped may hold a lock.
  await client.query("SET lock_timeout = 500");
  await client.query(REFUSE);
  const tables = "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'";
  const { rows } = await client.query<{ readonly name: string }>(tables);
  for (const { name } of rows) await client.query(toChange(name));
}
