import { expect, test } from 'vitest';
import { ahead, refuseCircles } from './ahead.mjs';

const MANIFEST = {
  'index.html': { file: 'assets/index.js', imports: ['_core.js'], css: ['assets/index.css'] },
  '_core.js': { file: 'assets/core.js' },
  '_frame.js': { file: 'assets/frame.js', imports: ['_core.js'], css: ['assets/frame.css'] },
  'src/shell/Inside.svelte': { file: 'assets/Inside.js', imports: ['_frame.js', 'index.html'] },
  'src/pages/chat/Chat.svelte': {
    file: 'assets/Chat.js',
    imports: ['_frame.js'],
    dynamicImports: ['voice.ts'],
    css: ['assets/Chat.css'],
  },
  'src/pages/deliveries/Deliveries.svelte': { file: 'assets/Deliveries.js' },
  'src/pages/overview/Overview.svelte': { file: 'assets/Overview.js' },
  'src/pages/inbox/Inbox.svelte': { file: 'assets/Inbox.js' },
  'src/pages/webhooks/Webhooks.svelte': { file: 'assets/Webhooks.js' },
  'src/pages/agents/Agents.svelte': { file: 'assets/Agents.js' },
  'src/pages/channels/Channels.svelte': { file: 'assets/Channels.js' },
  'src/pages/settings/Settings.svelte': { file: 'assets/Settings.js' },
};

test('each file is named once, those of the document first, what comes later is not', () => {
  const headers = ahead(MANIFEST);
  expect(headers.chat.split(', ')).toEqual([
    '</assets/index.css>; rel=preload; as=style; crossorigin',
    '</assets/core.js>; rel=modulepreload',
    '</assets/index.js>; rel=modulepreload',
    '</assets/frame.js>; rel=modulepreload',
    '</assets/frame.css>; rel=preload; as=style; crossorigin',
    '</assets/Inside.js>; rel=modulepreload',
    '</assets/Chat.js>; rel=modulepreload',
    '</assets/Chat.css>; rel=preload; as=style; crossorigin',
  ]);
  expect(headers['']).toBe(headers.overview);
  expect(headers.deliveries).toContain('/assets/Deliveries.js');
});

test('a page that was moved ends the build', () => {
  const { 'src/pages/chat/Chat.svelte': _, ...rest } = MANIFEST;
  expect(() => ahead(rest)).toThrow('no src/pages/chat/Chat.svelte');
});

test('files in a circle end the build', () => {
  expect(() => refuseCircles(MANIFEST)).not.toThrow();
  const circle = { ...MANIFEST, '_core.js': { file: 'assets/core.js', imports: ['_frame.js'] } };
  expect(() => refuseCircles(circle)).toThrow('_core.js → _frame.js → _core.js');
});
