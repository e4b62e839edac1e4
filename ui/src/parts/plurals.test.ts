import { afterEach, expect, it } from 'vitest';
import { m } from '../paraglide/messages.js';
import { overwriteGetLocale } from '../paraglide/runtime.js';
import { number } from './time';

afterEach(() => {
  overwriteGetLocale(() => 'en');
});

// The plural depends on the number, not on its text: “1.000” is a thousand in German.
it('says one and many of what was selected', () => {
  const said = (locale: 'en' | 'de', count: number) => {
    overwriteGetLocale(() => locale);
    return [m.chat_deleted_many({ count }), m.deliveries_bulk_done({ count, shown: number(count) })];
  };
  expect(said('en', 1)).toEqual(['1 conversation deleted', '1 delivery queued again']);
  expect(said('en', 2)).toEqual(['2 conversations deleted', '2 deliveries queued again']);
  expect(said('de', 1)).toEqual(['1 Unterhaltung gelöscht', '1 Zustellung wieder eingereiht']);
  expect(said('de', 1000)[1]).toBe('1.000 Zustellungen wieder eingereiht');
});
