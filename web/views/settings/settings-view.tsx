import type { OutputOf } from "pawl/client";
import { useRef } from "react";
import { useInAddress } from "../../data/use-address.ts";
import { useCall } from "../../data/use-call.ts";
import { Check, TextField } from "../../parts/fields.tsx";
import { useKeys } from "../../parts/keys.ts";
import { Empty, Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { LongText } from "../../parts/value-view.tsx";
import { Id } from "../../parts/values.tsx";
import { ViewBar } from "../../parts/view-bar.tsx";

type Setting = OutputOf<"GET /settings">["items"][number];

/** Every setting of the server with its value, without secrets, and where that comes from. */
export function SettingsView() {
  const { data, error } = useCall("GET /settings", {});
  const [q, setQ] = useInAddress("q");
  const [only, setOnly] = useInAddress("only");
  const search = useRef<HTMLDivElement>(null);
  useKeys({ "/": () => search.current?.querySelector("input")?.focus() });
  const words = q.toLowerCase().split(/\s+/);
  const fitting = data?.items.filter(
    (setting) => (only === "" || setting.origin !== "default") && words.every((word) => toText(setting).includes(word)),
  );
  return (
    <>
      <ViewBar title="Settings">
        <div ref={search} className="w-60">
          <TextField
            label="Search"
            hidesLabel
            type="search"
            placeholder="name, value, origin or words  ( / )"
            value={q}
            onChange={({ target }) => setQ(target.value)}
          />
        </div>
        <Check label="Only those that are set" isOn={only !== ""} onChange={(isOn) => setOnly(isOn ? "set" : "")} />
        {fitting && (
          <span role="status" className="text-soft">
            {fitting.length} of {data?.items.length}
          </span>
        )}
      </ViewBar>
      {error !== null && data === undefined ? (
        <div className="p-4">
          <Problem error={error} />
        </div>
      ) : fitting === undefined ? (
        <Loading what="the settings" />
      ) : fitting.length === 0 ? (
        <Empty title={q === "" ? "Nothing is set: everything is as it comes." : "No setting fits."}>
          {q === "" ? "Set what you need in pawl.yaml, in .env, in the environment or by a flag." : "Take a word away."}
        </Empty>
      ) : (
        <div tabIndex={0} role="group" aria-label="Settings" className="min-h-0 flex-1 overflow-auto pb-6">
          {[...Map.groupBy(fitting, sectionOf)].map(([section, settings]) => (
            <section key={section} aria-label={section}>
              <h2 className="sticky top-0 border-b border-line bg-ground px-3 pb-1 pt-3 font-semibold">{section}</h2>
              <ul className="divide-y divide-line/60">
                {settings.map((each) => (
                  <SettingRow key={each.setting} of={each} />
                ))}
              </ul>
            </section>
          ))}
        </div>
      )}
    </>
  );
}

function SettingRow({ of: { setting, value, origin, description } }: { readonly of: Setting }) {
  const isSet = origin !== "default";
  return (
    <li className="grid gap-x-4 px-3 py-1.5 hover:bg-raised lg:grid-cols-[minmax(0,1fr)_minmax(0,1fr)_12rem]">
      <div className="min-w-0">
        <Id id={setting} whole />
        <p className="px-0.5 text-sm text-soft">{description}</p>
      </div>
      <div className="min-w-0 break-words px-0.5">
        {value === null ? (
          <span className="text-soft">not set</span>
        ) : (
          <LongText text={typeof value === "string" ? value || '""' : JSON.stringify(value, null, 1)} />
        )}
      </div>
      <span
        className={`min-w-0 break-words px-0.5 text-sm ${isSet ? "font-medium text-accent" : "text-soft"}`}
        title="Where the value comes from"
      >
        {origin}
      </span>
    </li>
  );
}

function sectionOf({ setting }: Setting): string {
  return setting.slice(0, setting.indexOf("."));
}

function toText({ setting, value, origin, description }: Setting): string {
  return `${setting} ${JSON.stringify(value)} ${origin} ${description}`.toLowerCase();
}
