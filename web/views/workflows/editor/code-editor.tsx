import { autocompletion, type CompletionSource } from "@codemirror/autocomplete";
import { json } from "@codemirror/lang-json";
import { yaml } from "@codemirror/lang-yaml";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { basicSetup } from "codemirror";
import { type Ref, useEffect, useImperativeHandle, useRef } from "react";
import type { DefinitionProblem } from "../use-validation.ts";
import { EDITOR_LOOK } from "./editor-look.ts";

export interface CodeEditorHandle {
  /** Takes the place of the text, as one change that can be undone. */
  replace(text: string): void;
  /** Shows a place and puts the cursor there. Lines and columns start at 1. */
  goTo(place: { readonly line: number; readonly column: number }, options: { readonly takesFocus: boolean }): void;
}

interface CodeEditorProps {
  /** At the start; afterwards the editor has the text. */
  readonly initial: string;
  readonly isJson: boolean;
  readonly problems: readonly DefinitionProblem[];
  /** The text that `problems` are of. */
  readonly problemsOf: string;
  readonly onChange: (text: string) => void;
  readonly onSave: () => void;
  readonly complete: CompletionSource;
  readonly ref: Ref<CodeEditorHandle>;
}

/** The text of a definition, with the validator's problems as marks. */
export function CodeEditor({
  initial,
  isJson,
  problems,
  problemsOf,
  onChange,
  onSave,
  complete,
  ref,
}: CodeEditorProps) {
  const frame = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const now = useRef({ onChange, onSave, complete });
  now.current = { onChange, onSave, complete };
  const begin = useRef(initial);
  useEffect(() => {
    if (frame.current === null) return;
    const editor = new EditorView({
      parent: frame.current,
      state: EditorState.create({
        doc: begin.current,
        extensions: [
          basicSetup,
          isJson ? json() : yaml(),
          lintGutter(),
          autocompletion({ override: [(context) => now.current.complete(context)] }),
          EDITOR_LOOK,
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": "Definition", tabindex: "0" }),
          keymap.of([
            {
              key: "Mod-s",
              preventDefault: true,
              run: () => {
                now.current.onSave();
                return true;
              },
            },
          ]),
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged) now.current.onChange(state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => {
      begin.current = editor.state.doc.toString();
      editor.destroy();
    };
  }, [isJson]);
  useEffect(() => {
    const editor = view.current;
    // Marks of a text that is no longer there would stand at the wrong places.
    if (editor === null || editor.state.doc.toString() !== problemsOf) return;
    editor.dispatch(
      setDiagnostics(
        editor.state,
        problems.map((each) => toDiagnostic(each, editor.state)),
      ),
    );
  }, [problems, problemsOf]);
  useImperativeHandle(ref, () => ({
    replace(text) {
      const editor = view.current;
      if (editor !== null)
        editor.dispatch({ changes: leastChange(editor.state.doc.toString(), text), userEvent: "input" });
    },
    goTo({ line, column }, { takesFocus }) {
      const editor = view.current;
      if (editor === null) return;
      const at = positionOf(editor.state, line, column);
      editor.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
      if (takesFocus) editor.focus();
    },
  }));
  return <div ref={frame} className="h-full min-h-0 overflow-hidden" />;
}

function positionOf(state: EditorState, line: number, column: number): number {
  const { from, to } = state.doc.line(Math.min(Math.max(1, line), state.doc.lines));
  return Math.min(to, from + Math.max(0, column - 1));
}

function toDiagnostic({ severity, code, message, remedy, place }: DefinitionProblem, state: EditorState): Diagnostic {
  const from = place === undefined ? 0 : positionOf(state, place.line, place.column);
  const line = state.doc.lineAt(from);
  const word = /^\S+/.exec(line.text.slice(from - line.from))?.[0] ?? "";
  const to =
    place?.endLine !== undefined && place.endColumn !== undefined
      ? positionOf(state, place.endLine, place.endColumn)
      : from + word.length;
  return {
    from,
    to: Math.max(from, to),
    severity,
    source: code,
    message,
    renderMessage: () => renderProblem(code, message, remedy),
  };
}

/** Text only: messages quote what stands in the definition. */
function renderProblem(code: string, message: string, remedy: string | undefined): Node {
  const box = document.createElement("div");
  const parts = [
    ["cm-problem-code", code],
    ["cm-problem-message", message],
    ["cm-problem-remedy", remedy ?? ""],
  ] as const;
  for (const [name, text] of parts) {
    if (text === "") continue;
    const line = document.createElement("div");
    line.className = name;
    line.textContent = text;
    box.append(line);
  }
  return box;
}

/** What lies between an equal beginning and an equal end. */
function leastChange(before: string, after: string): { from: number; to: number; insert: string } {
  const most = Math.min(before.length, after.length);
  let from = 0;
  while (from < most && before[from] === after[from]) from += 1;
  let back = 0;
  while (back < most - from && before[before.length - 1 - back] === after[after.length - 1 - back]) back += 1;
  return { from, to: before.length - back, insert: after.slice(from, after.length - back) };
}
