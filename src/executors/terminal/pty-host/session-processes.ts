import { readdirSync, readFileSync } from "node:fs";
import { hasBrand } from "../../sandbox/brand.ts";
import { findDescendants, isAlive } from "../../sandbox/processes.ts";

/** A terminal's first process and the mark that all that come from it carry. */
export interface Origin {
  readonly pid: number;
  readonly brand: string | undefined;
  /** Whether the first process still runs: a number is given to others later. */
  readonly runs: boolean;
}

/**
 * Every living process that the terminals have started, whoever its parent is now. Without marks only those below the
 * first process: what has lost its parent is not found then.
 */
export function findSessionProcesses(origins: readonly Origin[]): number[] {
  const brands = origins.flatMap(({ brand }) => brand ?? []);
  const branded = brands.length === 0 ? [] : findCarriers(brands);
  const below = origins.filter(({ runs }) => runs).flatMap(({ pid }) => [pid, ...findDescendants(pid)]);
  return [...new Set([...branded, ...below])].filter(isAlive);
}

function findCarriers(brands: readonly string[]): number[] {
  return pids().filter((pid) => {
    const limits = readLimits(pid);
    return brands.some((brand) => hasBrand(limits, brand));
  });
}

function pids(): number[] {
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

function readLimits(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/limits`, "latin1");
  } catch {
    return "";
  }
}
