import { makeJsonExact } from "../../src/core/exact-json.ts";

makeJsonExact();
