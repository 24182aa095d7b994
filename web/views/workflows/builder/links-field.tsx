import { Button } from "../../../parts/button.tsx";
import { Choice, TextField } from "../../../parts/fields.tsx";
import type { Builder, BuiltStep, Link } from "./builder.ts";

interface LinksFieldProps {
  readonly builder: Builder;
  readonly step: BuiltStep;
  readonly others: readonly BuiltStep[];
  readonly onChange: (links: readonly Link[]) => void;
}

/** What a step is connected with, each connection in a line. */
export function LinksField({ builder, step, others, onChange }: LinksFieldProps) {
  const { linksTitle, ways } = builder;
  const links = builder.readLinks(step);
  const change = (index: number, next: Partial<Link>) =>
    onChange(links.map((link, each) => (each === index ? { ...link, ...next } : link)));
  const free = others.find(({ id }) => !links.some(({ to }) => to === id)) ?? others[0];
  const names = others.map(({ id }) => [id, id] as const);
  return (
    <fieldset className="min-w-0">
      <legend className="mb-0.5 text-xs font-medium text-soft">{linksTitle}</legend>
      <ul className="grid gap-1.5">
        {links.map((link, index) => {
          const way = ways.find(({ when }) => when === link.when);
          return (
            // Connections have no ids, and keep their places.
            // biome-ignore lint/suspicious/noArrayIndexKey: see above
            <li key={index} className="flex flex-wrap items-center gap-1.5">
              {ways.length > 1 && (
                <Choice
                  label={`When, ${index + 1}`}
                  hidesLabel
                  value={link.when}
                  disabled={link.raw !== undefined}
                  choices={[
                    ...(way === undefined ? [[link.when, "as it is written"] as const] : []),
                    ...ways.map(({ when, words }) => [when, words] as const),
                  ]}
                  onPick={(when) => change(index, { when })}
                />
              )}
              {way?.wants !== undefined && (
                <TextField
                  label={`Condition, ${index + 1}`}
                  hidesLabel
                  placeholder={way.wants}
                  value={link.words ?? ""}
                  onChange={({ target }) => change(index, { words: target.value })}
                />
              )}
              <Choice
                label={`${linksTitle}, ${index + 1}`}
                hidesLabel
                value={link.to}
                choices={[
                  ...(others.some(({ id }) => id === link.to) ? [] : [[link.to, link.to || "–"] as const]),
                  ...names,
                ]}
                onPick={(to) => change(index, { to })}
              />
              <Button
                kind="quiet"
                aria-label={`Remove the connection with ${link.to}`}
                onClick={() => onChange(links.filter((_, each) => each !== index))}
              >
                ✕
              </Button>
            </li>
          );
        })}
      </ul>
      <div className="mt-1">
        <Button
          disabled={free === undefined}
          onClick={() => free && onChange([...links, { when: ways[0]?.when ?? "", to: free.id }])}
        >
          Connect
        </Button>
      </div>
    </fieldset>
  );
}
