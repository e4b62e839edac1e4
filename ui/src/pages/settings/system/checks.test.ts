import { afterEach, expect, test } from 'vitest';
import { TEXTS } from '../../../client/generated/texts';
import { overwriteGetLocale } from '../../../paraglide/runtime.js';
import { CHECKS, shown } from './checks';

afterEach(() => {
  overwriteGetLocale(() => 'en');
});

test('every health check of the gateway has a name, and no other has', () => {
  expect(Object.keys(CHECKS).toSorted()).toEqual(TEXTS.checks);
});

const disk = { id: 'disk', ok: false, message: '400 MiB are free.', hint: 'Free some space.' };

test('English shows the sentence of the gateway', () => {
  expect(shown(disk)).toMatchObject({ name: 'Disk space', text: null, detail: '400 MiB are free.' });
});

test('a sentence with a translation replaces the general text', () => {
  overwriteGetLocale(() => 'de');
  const inLanguage = { message: true, hint: true };
  expect(
    shown({ ...disk, message: 'Im Datenverzeichnis sind 400 MiB frei.', hint: 'Schaffen Sie Platz.', inLanguage }),
  ).toEqual({
    name: 'Speicherplatz',
    text: null,
    detail: 'Im Datenverzeichnis sind 400 MiB frei.',
    hint: null,
    hintDetail: 'Schaffen Sie Platz.',
  });
});

test('a missing schedule of backups is not called a schedule', () => {
  overwriteGetLocale(() => 'de');
  const backup = { id: 'backup', ok: true, message: 'No backups are scheduled.', hint: 'Set backup.schedule.' };
  expect(shown(backup)).toMatchObject({ text: null, detail: backup.message, hintDetail: backup.hint });
});

test('German says what was found, and adds the sentence that says more', () => {
  overwriteGetLocale(() => 'de');
  expect(shown(disk)).toEqual({
    name: 'Speicherplatz',
    text: 'Der freie Speicherplatz ist knapp oder nicht lesbar.',
    detail: '400 MiB are free.',
    hint: null,
    hintDetail: 'Free some space.',
  });
  const clock = { id: 'clock', ok: true, message: 'The clock shows 2026-11-28T00:33:32.625Z.' };
  expect(shown(clock)).toMatchObject({ text: 'Die Uhrzeit ist plausibel.', detail: null });
  const queue = { id: 'queue', ok: false, message: 'A delivery has waited.', hint: 'Raise it.' };
  expect(shown(queue).hint).toMatch(/^Erhöhen Sie/);
  expect(shown({ id: 'new_one', ok: false, message: 'Something.', hint: 'Do it.' })).toEqual({
    name: 'New one',
    text: null,
    detail: 'Something.',
    hint: null,
    hintDetail: 'Do it.',
  });
});
