import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** The pages of `pawl serve`, below `/ui/`. They know the server by the package's own client, compiled from its source. */
export default defineConfig({
  root: import.meta.dirname,
  base: "/ui/",
  plugins: [react(), tailwindcss()],
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
