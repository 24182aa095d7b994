import { defaultHighlightStyle, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";

const color = (name: string) => `var(--color-${name})`;

/** The default style's colours, which are made for white paper, in those of the pages. */
const COLORS: Readonly<Record<string, string>> = {
  "#404740": "soft",
  "#708": "accent",
  "#219": "wait",
  "#164": "wait",
  "#a11": "ok",
  "#e40": "warn",
  "#00f": "accent",
  "#30a": "accent",
  "#085": "accent",
  "#167": "accent",
  "#256": "accent",
  "#00c": "accent",
  "#940": "soft",
  "#f00": "bad",
};

const HIGHLIGHT = HighlightStyle.define(
  defaultHighlightStyle.specs.map((spec) => {
    const named = typeof spec["color"] === "string" ? COLORS[spec["color"]] : undefined;
    return named === undefined ? spec : { ...spec, color: color(named) };
  }),
);

const THEME = EditorView.theme({
  "&": { height: "100%", fontSize: "0.8125rem", background: color("surface"), color: color("ink") },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "1.5" },
  ".cm-content": { caretColor: color("ink") },
  ".cm-cursor": { borderLeftColor: color("ink") },
  ".cm-gutters": { background: color("surface"), color: color("soft"), borderRight: `1px solid ${color("line")}` },
  ".cm-activeLine, .cm-activeLineGutter": { background: `color-mix(in srgb, ${color("raised")} 60%, transparent)` },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: `color-mix(in srgb, ${color("accent")} 25%, transparent)`,
  },
  ".cm-tooltip, .cm-panels": {
    background: color("surface"),
    color: color("ink"),
    border: `1px solid ${color("line")}`,
  },
  ".cm-tooltip": { borderRadius: "6px", maxWidth: "min(34rem, 90vw)", boxShadow: "0 4px 16px rgb(0 0 0 / 0.2)" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { background: color("accent"), color: color("on-accent") },
  ".cm-completionDetail": { fontStyle: "normal", opacity: "0.75" },
  ".cm-completionInfo": { fontFamily: "var(--font-sans)", padding: "6px 8px" },
  ".cm-textfield, .cm-button": {
    background: color("raised"),
    color: color("ink"),
    border: `1px solid ${color("line")}`,
    backgroundImage: "none",
  },
  ".cm-matchingBracket": { background: color("raised"), outline: `1px solid ${color("line")}` },
  ".cm-foldPlaceholder": { background: color("raised"), border: `1px solid ${color("line")}`, color: color("soft") },
  ".cm-diagnostic": { fontFamily: "var(--font-sans)", whiteSpace: "pre-wrap", padding: "6px 8px" },
  ".cm-diagnostic-error": { borderLeftColor: color("bad") },
  ".cm-diagnostic-warning": { borderLeftColor: color("warn") },
  ".cm-diagnosticSource": { display: "none" },
  ".cm-problem-code": { fontFamily: "var(--font-mono)", fontSize: "0.75rem", color: color("soft") },
  ".cm-problem-remedy": { color: color("soft"), marginTop: "2px" },
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: `underline wavy ${color("bad")} 1px`,
    textUnderlineOffset: "3px",
  },
  ".cm-lintRange-warning": {
    backgroundImage: "none",
    textDecoration: `underline wavy ${color("warn")} 1px`,
    textUnderlineOffset: "3px",
  },
});

/** The editor in the colours of the pages, by day and by night. */
export const EDITOR_LOOK = [THEME, syntaxHighlighting(HIGHLIGHT)];
