#!/usr/bin/env bash
# The service of Pawl in one sitting, by curl: start it, run a workflow for five companies, follow it live, get its signed
# webhook, answer a question, do a part of it again with something changed, and see what all of that has cost.
#
#   examples/quickstart.sh
#
# It needs bash, curl and Node, and no key: the agents are simulated. What it makes lies in one temporary folder, which is
# removed in the end; nothing listens beyond this machine.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PATH="$root/node_modules/.bin:$PATH"     # the Node that this project brings
main=${PAWL_MAIN:-$root/bin/pawl.cjs}    # elsewhere the command is `pawl`
work=$(mktemp -d "${TMPDIR:-/tmp}/pawl-quickstart.XXXXXX")
cd "$work"

say() { printf '\n== %s\n' "$*"; }

# One value of the JSON on stdin: `field data.run_id`.
field() {
  node -e 'let value = JSON.parse(require("fs").readFileSync(0, "utf8"))
    for (const key of process.argv[1].split(".")) value = value?.[key]
    console.log(typeof value === "string" ? value : JSON.stringify(value))' "$1"
}

# JSON for a request: `json '{"workflow": $0}' TEXT` puts texts where they belong, quoted as JSON wants it.
json() {
  node -e 'const [template, ...texts] = process.argv.slice(1)
    console.log(template.replace(/\$(\d)/g, (_, n) => JSON.stringify(texts[n])))' "$@"
}

until_there() { # FILE
  for _ in $(seq 300); do
    if [ -s "$1" ]; then return; fi
    sleep 0.1
  done
  echo "$1 did not come:" >&2
  cat ./*.log >&2
  exit 1
}

pids=()
clean_up() {
  for pid in ${pids[@]+"${pids[@]}"}; do
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  cd / && rm -rf "$work"
}
trap clean_up EXIT

say "1. Somebody who waits for webhooks"
# Keeps what it receives, byte for byte: a signature is about bytes.
cat > receiver.cjs <<'JS'
const { createServer } = require("node:http");
const { renameSync, writeFileSync } = require("node:fs");
const put = (name, text) => (writeFileSync(`${name}.new`, text), renameSync(`${name}.new`, name));
const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  put("hook-headers.json", JSON.stringify(request.headers));
  put("hook-body.json", Buffer.concat(chunks));
  response.writeHead(204).end();
});
server.listen(0, "127.0.0.1", () => put("hook-port", String(server.address().port)));
JS
node receiver.cjs > receiver.log 2>&1 &
pids+=($!)
until_there hook-port
hook="127.0.0.1:$(cat hook-port)"
echo "it listens on $hook"

say "2. The server, on a port that is free"
export WEBHOOK_SECRET="a secret that sender and receiver share"
export PAWL_AGENT__PROVIDER="${PAWL_AGENT__PROVIDER:-simulated}"    # `inline` or `sandstorm` would ask real agents
mkdir workflows
cp "$root/examples/lead-enrichment.yaml" workflows/
# Webhooks go to public addresses only, unless others are allowed.
echo "outbound: { allow: [\"$hook\"] }" > pawl.yaml
node "$main" serve --port 0 > server.out 2> server.log &
pids+=($!)
until_there server.out
url=$(sed -n 's/^Pawl listens on //p' server.out)
curl -fsS "$url/health" && echo

say "3. Enrich five companies: POST /workflows/run"
companies=$(cat "$root/examples/lead-enrichment.input.json")
request=$(json "{\"workflow\": \"lead-enrichment\", \"input\": $companies, \"callback_url\": \$0}" "http://$hook/done")
# The key makes it one run, however often the request is sent.
submit() { curl -fsS "$url/workflows/run" -H 'Idempotency-Key: quickstart-1' --json "$request"; }
run=$(submit | field data.run_id)
again=$(submit | field data.run_id)
echo "run $run"
if [ "$run" != "$again" ]; then exit 1; fi
echo "sent again, it is the same run"

say "4. Follow it: GET /runs/ID/stream"
# The connection breaks after a few events...
curl -fsSN "$url/runs/$run/stream" 2>/dev/null | while IFS= read -r line; do
  printf '%s\n' "$line"
  if [ "${line#id: }" != "$line" ]; then seen=$((${seen:-0} + 1)); fi
  if [ "${seen:-0}" -eq 8 ] && [ -z "$line" ]; then break; fi
done > first.txt || true
last=$(sed -n 's/^id: //p' first.txt | tail -n 1)
echo "cut off after the event $last"
# ... and goes on exactly behind the last one that was seen, until the run has ended.
curl -fsSN "$url/runs/$run/stream" -H "Last-Event-ID: $last" > rest.txt
sed -n 's/^data: //p' first.txt rest.txt | node -e '
  for (const line of require("fs").readFileSync(0, "utf8").trim().split("\n")) {
    const { path, status, duration_seconds: seconds } = JSON.parse(line);
    if (path !== undefined && seconds !== null) console.log(`  ${path.padEnd(10)} ${status} in ${seconds} s`);
  }'
cat first.txt rest.txt | sed -n 's/^id: //p' > ids.txt
echo "$(wc -l < ids.txt | tr -d ' ') events, $(sort ids.txt | uniq -d | wc -l | tr -d ' ') of them twice"

say "5. The webhook, and whether it is from us"
until_there hook-body.json
node -e '
  const { createHmac, timingSafeEqual } = require("node:crypto");
  const { readFileSync } = require("node:fs");
  const body = readFileSync("hook-body.json");
  const headers = JSON.parse(readFileSync("hook-headers.json", "utf8"));
  // The same by hand: openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" hook-body.json
  const expected = createHmac("sha256", process.env.WEBHOOK_SECRET).update(body).digest();
  const isOurs = timingSafeEqual(expected, Buffer.from(headers["x-sandcastle-signature"], "hex"));
  const { event, status, costs } = JSON.parse(body);
  console.log(`${headers["webhook-id"]}: ${event}, ${status}, ${costs.total_usd} USD`);
  console.log(isOurs ? "the signature is right" : "the signature is WRONG");
  process.exitCode = isOurs ? 0 : 1;
'

say "6. A person decides: save a workflow with a gate, run it, answer"
outreach='name: outreach
steps:
  - id: draft
    prompt: "Write two sentences to {input.company}."
  - id: gate
    type: approval
    depends_on: [draft]
    approval_config:
      message: "May this go out to {input.company}?"
      show_data: steps.draft.output
      allow_edit: true
  - id: send
    depends_on: [gate]
    prompt: "Send it: {steps.gate.output}"
'
json '{"text": $0}' "$outreach" | curl -fsS "$url/workflows" --json @- > /dev/null
# Whoever waits for a run that waits for a person is told so: 202, and where it stands.
gated=$(curl -fsS "$url/workflows/run/sync" --json '{"workflow": "outreach", "input": {"company": "Birchwater"}}' | field data.run_id)
curl -fsS "$url/approvals" | field data.items.0.message
curl -fsS "$url/approvals/$gated:gate/approve" --json '{"comment": "Shorter.", "edited_data": "Good morning, Birchwater!"}' && echo
# A question is answered once. Who comes later is told who was first.
curl -sS "$url/approvals/$gated:gate/approve" --json '{}' | field error.message
curl -fsSN "$url/runs/$gated/stream" > /dev/null
echo "the run is $(curl -fsS "$url/runs/$gated" | field data.status)"

say "7. Only the scores again, with another model: POST /runs/ID/fork"
forked=$(curl -fsS "$url/runs/$run/fork" --json '{"from_step": "score", "changes": {"model": "sonnet"}}' | field data.run_id)
curl -fsSN "$url/runs/$forked/stream" > /dev/null
for each in "$run" "$forked"; do
  echo "$each $(curl -fsS "$url/runs/$each" | field data.total_cost_usd) USD"
done
echo "scrape and enrich were taken over from $(curl -fsS "$url/runs/$forked" | field data.forked_from.run_id)"

say "8. What it has cost: GET /costs"
curl -fsS "$url/costs?by=workflow" | node -e '
  const { data } = JSON.parse(require("fs").readFileSync(0, "utf8"));
  for (const { key, runs, cost_usd: usd } of data.items) console.log(`  ${key}: ${runs} runs, ${usd} USD (simulated)`);'

say "9. Stop: what is under way would go on with the next start"
kill "${pids[1]}"
wait "${pids[1]}"
echo "stopped"
