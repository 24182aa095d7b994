import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/contracts/temporary-folder.ts";
import { DEFAULTS } from "../../config/settings.ts";
import { missingAgentsFile } from "./missing-agents-file.ts";

test("an agents file that is configured and not there is said to be missing; one that nobody named is not", () => {
  const appDir = temporaryFolder();
  const placesOf = (path: string | undefined) => ({
    appDir,
    config: {
      settings: { ...DEFAULTS, agents: path === undefined ? {} : { config_path: path } },
      origins: new Map(path === undefined ? [] : [["agents.config_path", "environment HOST_CONFIG_PATH"]]),
      secrets: [],
      env: () => undefined,
    },
  });

  expect(missingAgentsFile(placesOf(undefined))).toBeUndefined();
  expect(missingAgentsFile(placesOf("conf/host.json"))).toMatchObject({
    code: "FILE_NOT_FOUND",
    message: `There is no agents file ${appDir}/conf/host.json.`,
    remedy: expect.stringContaining("environment HOST_CONFIG_PATH"),
  });
});
