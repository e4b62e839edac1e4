import { fileURLToPath } from 'node:url';
import { paraglideVitePlugin } from '@inlang/paraglide-js';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';
import { fonts } from './scripts/fonts.mjs';
import { marks } from './scripts/marks.mjs';

/** Code that every view needs, in one chunk beside the entry. */
const CORE = new RegExp(
  [
    'node_modules/(svelte|clsx|esm-env)/',
    'rolldown/runtime',
    'vite/preload-helper',
    '/src/client/(failure|hooks|http|module)\\.',
    '/src/state/(facts|language|place|session|theme)\\.',
    '/paraglide/(runtime|messages/(client_|shell_(skip|starting|unreachable)))',
  ].join('|'),
);
const GATE = new RegExp(
  [
    '/src/parts/(Button|Check|DocumentTitle|Field|Notice|SecretField|TextField)\\.svelte',
    '/src/shell/(Outside|PasskeyObstacle)\\.svelte',
    '/src/state/(passkey|waiting)\\.',
    '/paraglide/messages/(login|parts|passkey)_',
    '/icons/(check|circle|circle-check|eye|eye-off|hourglass|info|key-round|triangle-alert)\\.',
  ].join('|'),
);
/** Settings modules that onboarding shares, split out so that onboarding does not load the settings. */
const SETUP = new RegExp(
  [
    '/src/pages/(channels/ChannelField|settings/(providers/names|security/(NewPassword|RuleList|Strength|password-rules)))\\.',
    '/src/pages/webhooks/(PublicAddress|Ways|Steps|VendorSecret|address|guide|modes|product|shell)\\.',
    '/paraglide/messages/(channels|providers|security|webhooks)_',
  ].join('|'),
);
/** Modules that several settings sections share. */
const SETTINGS =
  /\/src\/pages\/(settings\/(Group|Switch|setting)|vault\/(RecoveryKeyDialog|VaultParts|environment\/(StoredHow|WhereSecretsGo)))\./;
const FRAME = new RegExp(
  [
    '/src/(parts|design)/',
    '/src/shell/(?!Starting|Unreachable|routes|Overlay|Palette|palette)',
    '/src/client/(keys|pages|rpc|socket|generated)',
    '/src/state/(?!facts|language|place|session|theme)',
    '/src/pages/deliveries/(status|subject|StatusBadge)\\.',
    'node_modules/(@tanstack|partysocket|event-target-polyfill|@lucide/svelte/dist/icons)',
    '/paraglide/messages/(?!shell_(skip|starting|unreachable))',
  ].join('|'),
);

export default defineConfig({
  plugins: [
    paraglideVitePlugin({
      project: './project.inlang',
      outdir: './src/paraglide',
      // `src/state/language.ts` chooses the language.
      strategy: ['baseLocale'],
      // One module per message, so that each chunk contains only the messages it shows.
      outputStructure: 'message-modules',
      emitTsDeclarations: true,
    }),
    svelte(),
    fonts(),
    marks(),
  ],
  resolve: { alias: { $: fileURLToPath(new URL('./src', import.meta.url)) } },
  build: {
    target: ['chrome123', 'firefox128', 'safari17.5'],
    // The content security policy allows `data:` for images only, and small files are cheap to transfer.
    assetsInlineLimit: 0,
    // All target browsers support modulepreload, and the polyfill would add a script before the first paint.
    modulePreload: { polyfill: false },
    manifest: 'manifest.tmp.json',
    // Includes the licenses of bundled dependencies.
    license: { fileName: 'assets/licenses.txt' },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // Merges dozens of tiny chunks, whose round trips cost more than their bytes: one chunk of components
        // for login, one for the app and its pages.
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            { name: 'core', test: CORE, priority: 3 },
            { name: 'gate', test: GATE, priority: 2 },
            { name: 'setup', test: SETUP, priority: 2, minShareCount: 2 },
            { name: 'settings', test: SETTINGS, priority: 2, minShareCount: 2 },
            { name: 'frame', test: FRAME, priority: 1, minShareCount: 2 },
            { name: 'marks', test: /\/src\/design\/marks\/|node_modules\/simple-icons\//, priority: 2 },
            { name: 'voice', test: /\/src\/voice\//, minShareCount: 2 },
          ],
        },
      },
    },
    chunkSizeWarningLimit: 400,
  },
  test: { include: ['src/**/*.test.ts', 'scripts/**/*.test.mjs'] },
});
