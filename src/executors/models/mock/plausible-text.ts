import type { Random } from "./random.ts";
import type { Topic } from "./topic.ts";

/** What simulated text is made from. */
export interface Speaker {
  readonly topic: Topic;
  readonly random: Random;
}

const PEOPLE = ["Ada Moreau", "Jonas Lindqvist", "Priya Raman", "Mateo Alvarez", "Grace Okafor", "Hana Sato"] as const;
const ROLES = ["CEO", "CTO", "VP Sales", "Head of Product", "Engineering Manager"] as const;
const PLACES = ["Berlin, Germany", "Austin, USA", "Toronto, Canada", "Lisbon, Portugal", "Singapore"] as const;
const COUNTRIES = ["Germany", "United States", "Canada", "Portugal", "Singapore"] as const;
const SIZES = ["11-50", "51-200", "201-500", "501-1000"] as const;
const PRICING = ["per seat, monthly", "usage-based", "free tier with paid plans", "annual contract"] as const;
const TECHNOLOGIES = ["TypeScript", "PostgreSQL", "React", "Kubernetes", "Python", "AWS", "Redis", "Go"] as const;
const OPENINGS = [
  "shows steady growth in",
  "is best known for",
  "has recently invested in",
  "builds its offer around",
] as const;
const REASONS = [
  "The signals are consistent over several sources.",
  "Recent news supports this.",
  "Little speaks against it.",
  "Some details could not be confirmed.",
] as const;
const EPOCH_2024 = Date.UTC(2024, 0, 1);
const DAY_MS = 86_400_000;
const TWO_YEARS_DAYS = 730;

/** First match wins, so the narrower names come first. */
const BY_FIELD: readonly { readonly field: RegExp; readonly say: (speaker: Speaker) => string }[] = [
  { field: /e-?mail/, say: (speaker) => sayFormat("email", speaker) ?? "" },
  { field: /linkedin/, say: ({ random }) => `https://www.linkedin.com/in/${slug(random.pick(PEOPLE))}` },
  { field: /(^|_)(url|uri|link|website|homepage|href)s?$/, say: (speaker) => sayFormat("uri", speaker) ?? "" },
  { field: /(^|_)(date|day)$|_(at|on)$|^(since|until|deadline)$/, say: (speaker) => sayFormat("date", speaker) ?? "" },
  { field: /(^|_)(time|timestamp)$/, say: (speaker) => sayFormat("date-time", speaker) ?? "" },
  { field: /(^|_)(uu)?id$/, say: (speaker) => sayFormat("uuid", speaker) ?? "" },
  { field: /phone|telephone/, say: ({ random }) => `+1 555 01${random.int(10, 99)}` },
  { field: /country/, say: ({ random }) => random.pick(COUNTRIES) },
  { field: /location|city|address|hq|headquarters|region/, say: ({ random }) => random.pick(PLACES) },
  { field: /ceo|cto|author|contact|person|owner|founder/, say: ({ random }) => random.pick(PEOPLE) },
  { field: /role|job|position|(^|_)title$/, say: ({ random }) => random.pick(ROLES) },
  { field: /estimate|size|employees|headcount/, say: ({ random }) => random.pick(SIZES) },
  { field: /pricing|price_model|plan/, say: ({ random }) => random.pick(PRICING) },
  { field: /tech|stack|tool|language/, say: ({ random }) => random.pick(TECHNOLOGIES) },
  { field: /currency/, say: ({ random }) => random.pick(["USD", "EUR", "GBP"]) },
  { field: /company|organi[sz]ation|(^|_)name$/, say: ({ topic }) => topic.name },
  {
    field: /headline|subject|heading/,
    say: ({ topic, random }) => `${topic.name} expands its ${random.pick(topic.words)} work`,
  },
  {
    field: /signal|tag|category|keyword|label|topic/,
    say: ({ topic, random }) => `${random.pick(["growing", "strong", "new", "early"])} ${random.pick(topic.words)}`,
  },
];

const PERSON_NAME = /(contact|people|person|founder|team|member|employee|author)s?\.(full_)?name$/;

/** A text that could stand in this field. `parent` is the field around it, which tells a person's name from a company's. */
export function sayForField(
  { field, parent }: { readonly field: string; readonly parent: string },
  speaker: Speaker,
): string {
  const name = toSnakeCase(field);
  if (PERSON_NAME.test(`${toSnakeCase(parent)}.${name}`)) return speaker.random.pick(PEOPLE);
  return BY_FIELD.find((row) => row.field.test(name))?.say(speaker) ?? saySentence(speaker);
}

export function saySentence({ topic, random }: Speaker): string {
  return `${topic.name} ${random.pick(OPENINGS)} ${random.pick(topic.words)} and ${random.pick(topic.words)}. ${random.pick(REASONS)}`;
}

/** `undefined`: a format that means nothing to us. */
export function sayFormat(format: string, { topic, random }: Speaker): string | undefined {
  const host = `${slug(topic.name) || "example"}.example`;
  const instant = new Date(
    EPOCH_2024 + random.int(0, TWO_YEARS_DAYS) * DAY_MS + random.int(0, DAY_MS - 1),
  ).toISOString();
  switch (format) {
    case "date":
      return instant.slice(0, 10);
    case "date-time":
      return instant;
    case "time":
      return instant.slice(11);
    case "duration":
      return `P${random.int(1, 30)}D`;
    case "email":
    case "idn-email":
      return `contact@${host}`;
    case "uri":
    case "uri-reference":
    case "iri":
    case "url":
      return topic.urls[random.int(0, topic.urls.length - 1)] ?? `https://www.${host}/`;
    case "hostname":
    case "idn-hostname":
      return host;
    case "ipv4":
      return `192.0.2.${random.int(1, 254)}`;
    case "ipv6":
      return `2001:db8::${random.int(1, 9_999)}`;
    case "uuid":
      return sayUuid(random);
    case "json-pointer":
      return `/${random.pick(topic.words)}`;
    case "regex":
      return `^${random.pick(topic.words)}$`;
    default:
      return undefined;
  }
}

function sayUuid(random: Random): string {
  const hex = Array.from({ length: 32 }, () => random.int(0, 15).toString(16)).join("");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}

function toSnakeCase(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, "$1_$2").toLowerCase();
}

function slug(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
}
