import { join } from "node:path";
import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** The pages of `pawl serve`, below `/ui/`. They know the server by the package's own client, compiled from its source. */
export default defineConfig({
  root: import.meta.dirname,
  base: "/ui/",
  plugins: [
    {
      // Texts of our own elements are shown by `shown-jsx.ts`; those of libraries come from there.
      name: "pawl-shown-jsx",
      enforce: "pre",
      resolveId(source, importer = "") {
        const isOurs = importer.startsWith(import.meta.dirname) && !importer.endsWith("shown-jsx.ts");
        return source === "react/jsx-runtime" && isOurs ? join(import.meta.dirname, "shown-jsx.ts") : null;
      },
    },
    react(),
    tailwindcss(),
  ],
  resolve: { alias: { "pawl/client": fileURLToPath(new URL("../src/client/pawl-client.ts", import.meta.url)) } },
  build: {
    outDir: "../dist/web",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    manifest: true,
    license: { fileName: "THIRD-PARTY.md" },
    // Parts that load only when they are used are long: the budget of the first load is held by `npm run check`.
    chunkSizeWarningLimit: 1_000,
  },
});
