import { fileURLToPath } from 'node:url';
import { paraglideVitePlugin } from '@inlang/paraglide-js';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';
import { firstPages } from './scripts/first-pages.mjs';
import { fonts } from './scripts/fonts.mjs';
import { marks } from './scripts/marks.mjs';

/** Code that every view needs, and the components of the login, in one chunk beside the entry. */
const CORE = new RegExp(
  [
    'node_modules/(svelte|clsx|esm-env)/',
    'vite/preload-helper',
    '/src/design/(base|fonts|tokens)\\.css',
    '/src/client/(generated/names|failure|hooks|http|module|translated|wording)\\.',
    '/src/state/(facts|language|passkey|place|session|theme|toasts|waiting)\\.',
    '/src/parts/(Button|Check|Coded|DocumentTitle|Field|Notice|SecretField|TextField)\\.svelte',
    '/src/parts/(idle|submission)\\.',
    '/src/shell/(Outside|PasskeyObstacle|Starting|Unreachable)\\.svelte',
    '/paraglide/(runtime|registry|messages/(client_|login_|parts_|passkey_|shell_(skip|starting|unreachable)))',
    '/icons/(check|circle|circle-check|eye|eye-off|hourglass|info|key-round|triangle-alert)\\.',
  ].join('|'),
);
/** Settings modules that onboarding shares, split out so that onboarding does not load the settings. */
const SETUP = new RegExp(
  [
    '/src/pages/(channels/(AgentField|ChannelField|fields)|settings/security/(NewPassword|RuleList|Strength|password-rules))\\.',
    '/src/pages/webhooks/(PublicAddress|Ways|Steps|VendorSecret|address|guide|modes|product|shell)\\.',
    '/paraglide/messages/(channels_(?!type_)|providers_|security_|webhooks_)',
  ].join('|'),
);
/** Modules that several settings sections share. */
const SETTINGS =
  /\/src\/pages\/(settings\/(Group|Switch|setting)|vault\/(RecoveryKeyDialog|VaultParts|environment\/(StoredHow|WhereSecretsGo)))\./;
/** The chart of the overview, the deliveries and a webhook. */
const TIMELINE =
  /\/src\/pages\/deliveries\/(Ticks|Timeline|timeline|latency)\.\w+$|\/paraglide\/messages\/deliveries_timeline/;
/** Styles of the frame's components go with it: each file is a request. */
const STYLES = /\/src\/shell\/(?!Overlay|Palette)\w+\.svelte\?.*type=style/;
/** What most pages after the first ones share. */
const SHARED =
  /\/src\/(parts|design|shell|client)\/|node_modules\/(diff|@lucide\/svelte\/dist\/icons)\/|\/paraglide\/messages\//;

const first = firstPages([
  '/src/shell/Inside.svelte',
  '/src/pages/overview/Overview.svelte',
  '/src/pages/chat/Chat.svelte',
  '/src/pages/deliveries/Deliveries.svelte',
]);

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
    first,
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
            { name: 'core', test: CORE, priority: 5 },
            { name: 'setup', test: SETUP, priority: 4, minShareCount: 2 },
            { name: 'settings', test: SETTINGS, priority: 4, minShareCount: 2 },
            { name: 'marks', test: /\/src\/design\/marks\/[^?]+$|node_modules\/simple-icons\//, priority: 3 },
            { name: 'timeline', test: TIMELINE, priority: 3, minShareCount: 2 },
            { name: 'frame', test: (id: string) => first.shares(id) || STYLES.test(id), priority: 2 },
            { name: 'voice', test: /\/src\/voice\/|\/paraglide\/messages\/voice_/, priority: 1, minShareCount: 2 },
            { name: 'shared', test: SHARED, minShareCount: 2 },
          ],
        },
      },
    },
    chunkSizeWarningLimit: 400,
  },
  test: { include: ['src/**/*.test.ts', 'scripts/**/*.test.mjs'] },
});
