import type { Expr, PathExpr } from "../expressions/expr.ts";
import { walkPaths } from "../expressions/walk-paths.ts";
import type { Handle } from "../history/run-state.ts";
import { seeFailure, seeItem, seeVariable, type Viewpoint } from "../interpreter/lookup.ts";
import { locateItem, locateStep } from "./locate.ts";

/** Sequence numbers of the events whose values an expression reads from this viewpoint. */
export function collectSeqs(from: Viewpoint, expr: Expr, seqs: Set<number> = new Set()): Set<number> {
  walkPaths(expr, (path) => collectOfPath(from, path, seqs));
  return seqs;
}

/** Sequence numbers of the events that assigned the variables that an expression reads. */
export function collectAssignments(from: Viewpoint, expr: Expr, seqs: Set<number> = new Set()): Set<number> {
  walkPaths(expr, (path) => {
    const name = path.name ?? "";
    const seq = path.root === "vars" ? seeVariable(from, name)?.variables.get(name)?.seq : undefined;
    if (seq !== undefined && seq > 0) seqs.add(seq);
  });
  return seqs;
}

/** Paths of stored files that an expression reads. */
export function collectStoragePaths(expr: Expr): ReadonlySet<string> {
  const paths = new Set<string>();
  walkPaths(expr, (path) => {
    if (path.root === "storage" && path.name !== undefined) paths.add(path.name);
  });
  return paths;
}

function collectOfPath(from: Viewpoint, path: PathExpr, seqs: Set<number>): void {
  switch (path.root) {
    case "input":
      seqs.add(from.scope.frame.inputHandle);
      return;
    case "steps":
      collectOfHandle(locateStep(from, path), seqs);
      return;
    case "item":
      collectOfItem(from, path, seqs);
      return;
    case "error": {
      const seq = seeFailure(from)?.failure?.seq;
      if (seq !== undefined && seq > 0) seqs.add(seq);
      return;
    }
    case "vars":
    case "output":
    case "failure":
    case "done":
    case "index":
    case "run":
    case "storage":
    case "env":
    case "local":
      return;
  }
}

function collectOfItem(from: Viewpoint, path: PathExpr, seqs: Set<number>): void {
  const seen = seeItem(from, path.name);
  if (seen === undefined) return;
  const item = locateItem(seen);
  if (item.kind === "handle") collectOfHandle(item.handle, seqs);
  else if (item.kind === "list") collectSeqs(item.from, item.list, seqs);
}

export function collectOfHandle(handle: Handle | undefined, seqs: Set<number>): void {
  if (handle === undefined) return;
  if (typeof handle === "number") {
    if (handle > 0) seqs.add(handle);
  } else if (handle.kind === "failure") {
    if (handle.failure.seq > 0) seqs.add(handle.failure.seq);
  } else if (handle.kind === "report") {
    collectOfHandle(handle.report.output, seqs);
  } else if (handle.kind === "list") {
    for (const inner of handle.handles) collectOfHandle(inner, seqs);
  } else for (const [, inner] of handle.steps) collectOfHandle(inner, seqs);
}
