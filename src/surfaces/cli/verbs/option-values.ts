import { InvalidArgumentError } from "commander";

export function toAmount(text: string): number {
  const amount = Number(text);
  if (text.trim() !== "" && amount >= 0 && amount <= 1_000_000) return amount;
  throw new InvalidArgumentError("It must be a number of US dollars, from 0 to 1,000,000.");
}

export function toWhole(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count <= 10_000_000) return count;
  throw new InvalidArgumentError("It must be a whole number, 0 or more.");
}

export function toPriority(text: string): number {
  const priority = Number(text);
  if (/^-?\d+$/.test(text) && Math.abs(priority) <= 10) return priority;
  throw new InvalidArgumentError("It must be a whole number from -10 to 10.");
}

export function toPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError("It must be a number from 0 to 65,535.");
}
