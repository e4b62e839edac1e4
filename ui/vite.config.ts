import { fileURLToPath } from 'node:url';
import { paraglideVitePlugin } from '@inlang/paraglide-js';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  plugins: [
    paraglideVitePlugin({
      project: './project.inlang',
      outdir: './src/paraglide',
      strategy: ['localStorage', 'preferredLanguage', 'baseLocale'],
      // One module a message: each part of the page loads the texts that it shows, no others.
      outputStructure: 'message-modules',
      emitTsDeclarations: true,
    }),
    svelte(),
  ],
  resolve: { alias: { $: fileURLToPath(new URL('./src', import.meta.url)) } },
  build: {
    target: ['chrome123', 'firefox128', 'safari17.5'],
    // The policy of the page allows no `data:` except for images, and small files travel well enough.
    assetsInlineLimit: 0,
    // The polyfill would be one more script before first paint; every browser above has modulepreload.
    modulePreload: { polyfill: false },
    manifest: 'assets/modules.json',
    // What others wrote travels with its licence.
    license: { fileName: 'assets/licenses.txt' },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 400,
  },
  test: { include: ['src/**/*.test.ts', 'scripts/**/*.test.mjs'] },
});
