import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { SETTINGS } from "../../src/config/settings-table.ts";

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");

interface Service {
  readonly image: string;
  readonly build?: string;
  readonly user?: string;
  readonly read_only?: boolean;
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

const { services } = parse(read("compose.yaml"), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
};
const ours = Object.entries(services).filter(([, { build }]) => build !== undefined);

/** Instructions of a Dockerfile, each in one line. */
const instructions = read("Dockerfile")
  .replaceAll(/^#.*\n/gm, "")
  .replaceAll(/\s*\\\n\s*/g, " ")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => {
    const [word = "", ...rest] = line.split(" ");
    return { word, text: rest.join(" ") };
  });
const textsOf = (word: string, among = instructions) =>
  among.filter((each) => each.word === word).map(({ text }) => text);
const stageOf = (name: string) => {
  const from = instructions.findIndex(({ word, text }) => word === "FROM" && text.endsWith(` AS ${name}`));
  const rest = instructions.slice(from + 1);
  const length = rest.findIndex(({ word }) => word === "FROM");
  return length === -1 ? rest : rest.slice(0, length);
};

const NAMES = new Set(
  Object.entries(SETTINGS).flatMap(([section, settings]) =>
    Object.entries(settings).flatMap(([name, setting]) => [
      `PAWL_${section}__${name}`.toUpperCase(),
      ...("env" in setting ? setting.env : []),
    ]),
  ),
);

test.each(ours)("every variable that compose.yaml gives to %s is a setting", (_, { environment = {} }) => {
  expect(Object.keys(environment).filter((name) => !NAMES.has(name))).toEqual([]);
});

test("compose.yaml does not start without its secrets, and has none in it", () => {
  for (const [name, { environment = {} }] of Object.entries(services)) {
    for (const [variable, value] of Object.entries(environment)) {
      const isSecret = /KEY|PASSWORD|SECRET|DATABASE_URL|MC_HOST/.test(variable) && variable !== "AWS_ACCESS_KEY_ID";
      if (isSecret) expect({ name, variable, value }).toMatchObject({ value: expect.stringMatching(/\$\{\w+:[?-]/) });
    }
  }
  const { API_KEY, PAWL_SECRETS__KEY } = services["api"]?.environment ?? {};
  expect([API_KEY, PAWL_SECRETS__KEY]).toEqual([
    expect.stringMatching(/^\$\{API_KEY:\?/),
    expect.stringMatching(/^\$\{PAWL_SECRETS__KEY:\?/),
  ]);
});

test("compose.yaml pins its images, keeps our root file systems read-only, and waits for what is there", () => {
  for (const [name, service] of Object.entries(services)) {
    expect({ name, image: service.image }).toMatchObject({ image: expect.stringMatching(/:(?!latest)[\w.-]+$/) });
    for (const [needed, { condition }] of Object.entries(service.depends_on ?? {})) {
      expect(Object.keys(services)).toContain(needed);
      const isChecked = services[needed]?.healthcheck?.test !== undefined;
      expect(condition).toBe(isChecked ? "service_healthy" : "service_completed_successfully");
    }
  }
  expect(ours.map(([name, { read_only: isReadOnly }]) => [name, isReadOnly])).toEqual(
    ["api", "scheduler", "worker", "migrate"].map((name) => [name, true]),
  );
});

// The rules of hadolint that concern us, by their numbers: https://github.com/hadolint/hadolint#rules.
test("the Dockerfile keeps to hadolint's rules", () => {
  const runs = textsOf("RUN").join("\n");
  const stages = textsOf("FROM");
  // DL3024: names of stages differ. DL3022: files are copied from stages that are there.
  const names = stages.flatMap((stage) => stage.split(" AS ").slice(1));
  // DL3006, DL3007: each image that is not made here has a version, and more: a digest.
  for (const stage of stages.filter((each) => !names.includes(each.split(" AS ")[0] ?? "")))
    expect(stage).toMatch(/^\w+:[\w.-]*\d{2}[\w.-]*@sha256:[0-9a-f]{64} AS \w+$/);
  expect(new Set(names).size).toBe(names.length);
  for (const [, from] of textsOf("COPY")
    .join("\n")
    .matchAll(/--from=(\w+)/g))
    expect(names).toContain(from);
  // DL3000: an absolute WORKDIR. DL3002: the last user is not root. DL3046: a high number without a sparse log.
  for (const folder of textsOf("WORKDIR")) expect(folder).toMatch(/^\//);
  expect(textsOf("USER", stageOf("pawl"))).toEqual(["pawl"]);
  expect(textsOf("USER", stageOf("sandbox")).at(-1)).toBe("pawl");
  expect([stages.at(-1), stageOf("plain")]).toEqual(["pawl AS plain", []]);
  expect(runs).toContain("useradd --no-log-init");
  // DL3004: no sudo. DL3016: packages of npm have a version. DL4001: no download.
  expect(runs).not.toMatch(/(^|&& )(sudo|apt|curl|wget) /m);
  // DL3009, DL3015: apt brings what it is told to alone, in one image, and leaves no lists. Its versions are those of the release.
  const [installs] = textsOf("RUN", stageOf("sandbox"));
  expect(textsOf("RUN").filter((text) => text.includes("apt-get"))).toEqual([installs]);
  expect(installs).toMatch(
    /install -y --no-install-recommends bubblewrap python3 && rm -rf \/var\/lib\/apt\/lists\/\*$/,
  );
  for (const [, installed] of runs.matchAll(/npm install((?: \S+)*?)(?: &&|$)/gm))
    expect(installed).toMatch(/@\d+\.\d+\.\d+$/);
  // DL3020: COPY, not ADD. DL4000: no MAINTAINER. DL4003, DL4004, DL3012: one CMD, ENTRYPOINT and HEALTHCHECK.
  expect([...textsOf("ADD"), ...textsOf("MAINTAINER")]).toEqual([]);
  for (const word of ["CMD", "ENTRYPOINT", "HEALTHCHECK"]) expect(textsOf(word)).toHaveLength(1);
  // DL3025: lists, so that signals come to the process.
  for (const word of ["CMD", "ENTRYPOINT"]) expect(JSON.parse(textsOf(word)[0] ?? "")).toBeInstanceOf(Array);
  // DL3059: no RUN behind another.
  const words = instructions.map(({ word }) => word);
  expect(words.filter((word, n) => word === "RUN" && words[n - 1] === "RUN")).toEqual([]);
});

test("the image has the versions of package.json, a health check and /data as a volume", () => {
  const { peerDependencies, devDependencies } = JSON.parse(read("package.json"));
  expect(textsOf("RUN").join("\n")).toContain(`@aws-sdk/client-s3@${peerDependencies["@aws-sdk/client-s3"]}`);
  expect(textsOf("FROM")[0]).toContain(`node:${devDependencies.node}-`);
  expect(JSON.parse(textsOf("VOLUME")[0] ?? "")).toEqual(["/data", "/tmp"]);
  expect(textsOf("HEALTHCHECK")[0]).toContain("http://127.0.0.1:8080/healthz");
});

test("the image says what it is, and of which commit", () => {
  const labels = textsOf("LABEL").join(" ");
  for (const name of ["title", "description", "source", "licenses", "version", "revision"])
    expect(labels).toContain(`org.opencontainers.image.${name}=`);
  expect(textsOf("ARG").join(" ")).toMatch(/VERSION=.* REVISION=/);
  expect(read(".github/workflows/release.yml")).toMatch(/--build-arg VERSION=.* --build-arg REVISION=/);
});

test("the build sees what the Dockerfile copies, and no data, secrets or modules", () => {
  const ignored = read(".dockerignore").split("\n");
  expect(ignored.find((line) => !line.startsWith("#"))).toBe("*");
  const seen = ignored.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
  const copied = textsOf("COPY")
    .filter((text) => !text.startsWith("--from"))
    .flatMap((text) => text.split(" ").slice(0, -1));
  expect(seen.toSorted()).toEqual([...new Set(copied)].toSorted());
  expect(ignored).toEqual(expect.arrayContaining(["**/.env", "**/.pawl", "**/node_modules"]));
});
