// `npm run try:image [-- TARGET ...]`: lays out the root file system of an image as the Dockerfile says, without a container engine, and
// tries it: `smoke.mjs` runs in it as its user, with a read-only root and a network of its own. Needs root, `mmdebstrap` and a network.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";

interface Stage {
  readonly name: string;
  readonly from: string;
  readonly steps: readonly (readonly [word: string, text: string])[];
}

/** A root file system, and what the image says of the programs in it. */
interface Image {
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: string;
  readonly folder: string;
  readonly said: Readonly<Record<string, string>>;
}

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const ROOT = resolve(import.meta.dirname, "../..");
/** In a mount namespace of its own, which takes its mounts with it. It is a root, no `chroot`: in one, nothing can be confined. */
const ENTER = `set -e
root=$1 user=$2 folder=$3 mode=$4; shift 4
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
if [ "$mode" = tried ]; then
  ip link set lo up
  mount -t tmpfs tmpfs "$root/tmp"
  mount -t tmpfs -o mode=0700,uid=10001,gid=10001 tmpfs "$root/data"
  mount -o remount,bind,ro "$root"
fi
cd "$root"
pivot_root . .
umount -l .
cd "$folder"
[ "$user" = root ] || set -- setpriv --reuid "$user" --regid "$user" --clear-groups --no-new-privs --bounding-set -all --inh-caps -all -- "$@"
exec "$@"
`;

const targets = process.argv.length > 2 ? process.argv.slice(2) : ["plain", "sandbox"];
const work = mkdtempSync(join(tmpdir(), "pawl-image-"));
const stages = readStages(readFileSync(join(ROOT, "Dockerfile"), "utf8"));
const built = new Map<string, Image>();
let failures = targets.length;
try {
  for (const target of targets) if (smoke(build(target), target) === 0) failures -= 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}
process.exit(failures === 0 ? 0 : 1);

function readStages(text: string): readonly Stage[] {
  const lines = text
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll(/\s*\\\n\s*/g, " ")
    .split("\n");
  const stages: { name: string; from: string; steps: [string, string][] }[] = [];
  for (const line of lines) {
    const [, word = "", rest = ""] = /^(\w+) (.*)$/.exec(line) ?? [];
    const [from = "", name = ""] = rest.split(" AS ");
    if (word === "FROM") stages.push({ name, from, steps: [] });
    else if (word !== "") stages.at(-1)?.steps.push([word, rest]);
  }
  return stages;
}

function build(name: string): Image {
  const known = built.get(name);
  if (known !== undefined) return known;
  const stage = stages.find((each) => each.name === name);
  if (stage === undefined) throw new Error(`The Dockerfile has no stage ${name}.`);
  const root = join(work, name);
  const before = stages.some((each) => each.name === stage.from) ? build(stage.from) : undefined;
  if (before === undefined) layBase(stage.from, root);
  else execFileSync("cp", ["-a", before.root, root]);
  let image: Image = { env: { PATH }, user: "root", folder: "/", said: {}, ...before, root };
  for (const [word, text] of stage.steps) {
    console.log(`== ${name}: ${word} ${text.slice(0, 100)}`);
    image = perform(image, word, text);
  }
  built.set(name, image);
  return image;
}

/** An image of Debian by its packages; that of Node has Node and npm beside them, as npm has them for this machine. */
function layBase(from: string, root: string): void {
  const [, image = "", version = "", suite = ""] = /^(node|debian):(?:([\d.]+)-)?(\w+)/.exec(from) ?? [];
  console.log(`== ${from.split("@")[0]}`);
  execFileSync("mmdebstrap", ["--quiet", "--variant=minbase", suite, root], { stdio: "inherit" });
  if (image !== "node") return;
  const node = join(ROOT, "node_modules/node/bin/node");
  const found = execFileSync(node, ["--version"], { encoding: "utf8" }).trim();
  if (found !== `v${version}`) throw new Error(`The image has Node ${version}, and this project ${found}.`);
  cpSync(node, join(root, "usr/local/bin/node"));
  const npm = dirname(dirname(realpathSync(execFileSync("which", ["npm"], { encoding: "utf8" }).trim())));
  cpSync(npm, join(root, "usr/local/lib/node_modules/npm"), { recursive: true });
  execFileSync("ln", ["-s", "../lib/node_modules/npm/bin/npm-cli.js", join(root, "usr/local/bin/npm")]);
}

function perform(image: Image, word: string, text: string): Image {
  switch (word) {
    case "RUN": {
      const { status: ended } = enter(image, { argv: ["sh", "-c", text], builds: true });
      if (ended !== 0) throw new Error(`RUN ended with ${ended}.`);
      return image;
    }
    case "COPY":
      copy(image, text.split(" "));
      return image;
    case "WORKDIR":
      mkdirSync(join(image.root, text), { recursive: true });
      return { ...image, folder: text };
    case "USER":
      return { ...image, user: text };
    case "ENV": {
      const pairs = text.split(" ").map((pair) => pair.split("=") as [string, string]);
      return { ...image, env: { ...image.env, ...Object.fromEntries(pairs) } };
    }
    default:
      return { ...image, said: { ...image.said, [word]: text } };
  }
}

/** Several things go into a folder; of a folder, what is in it. */
function copy({ root, folder }: Image, words: readonly string[]): void {
  const from = words[0]?.startsWith("--from=") ? build(words[0].slice(7)).root : ROOT;
  const paths = words.filter((each) => !each.startsWith("--"));
  const to = resolve("/", folder, paths.at(-1) ?? "");
  const sources = paths.slice(0, -1).map((path) => join(from, path));
  const isIgnored = (path: string) => from === ROOT && /^(node_modules|\.pawl|\.env)$/.test(basename(path));
  for (const source of sources) {
    const isFolder = execFileSync("stat", ["-c", "%F", source], { encoding: "utf8" }).startsWith("directory");
    const into = paths.at(-1)?.endsWith("/") && !isFolder ? join(to, basename(source)) : to;
    const options = { recursive: true, verbatimSymlinks: true, filter: (path: string) => !isIgnored(path) };
    cpSync(source, join(root, into), options);
  }
}

function enter(image: Image, { argv, builds }: { readonly argv: readonly string[]; readonly builds: boolean }) {
  const { root, env, user, folder } = image;
  const outside = builds ? networkOf(root) : {};
  const spaces = ["--mount", "--pid", "--fork", "--kill-child", ...(builds ? [] : ["--net", "--ipc"])];
  const entered = ["sh", "-c", ENTER, "sh", root, user, folder, builds ? "built" : "tried", ...argv];
  return spawnSync("unshare", [...spaces, ...entered], { env: { ...env, ...outside }, stdio: "inherit" });
}

/** How this machine reaches registries. */
function networkOf(root: string): Record<string, string> {
  cpSync("/etc/resolv.conf", join(root, "etc/resolv.conf"), { dereference: true });
  const names = ["http_proxy", "https_proxy", "no_proxy"].flatMap((name) => [name, name.toUpperCase()]);
  const given = names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  const authorities = process.env["NODE_EXTRA_CA_CERTS"];
  if (authorities !== undefined) {
    cpSync(authorities, join(root, "tmp/authorities.pem"));
    given.push(["NODE_EXTRA_CA_CERTS", "/tmp/authorities.pem"]);
  }
  return Object.fromEntries(given);
}

function smoke(image: Image, target: string): number {
  console.log(`== ${target}: ${execFileSync("du", ["-shx", image.root], { encoding: "utf8" }).split("\t")[0]}, tried`);
  const inside = join(image.root, "app/smoke.mjs");
  cpSync(join(import.meta.dirname, "smoke.mjs"), inside);
  chmodSync(inside, 0o644);
  writeFileSync(join(image.root, "app/said.json"), JSON.stringify({ ...image.said, target }));
  return enter(image, { argv: ["node", "smoke.mjs"], builds: false }).status ?? 1;
}
