import { afterEach, expect, it } from 'vitest';
import { overwriteGetLocale } from '../paraglide/runtime.js';
import { Failure } from './failure';

const textOf = (code: string, message: string, details = {}) => new Failure(code, message, details).message;

afterEach(() => {
  overwriteGetLocale(() => 'en');
});

it("keeps the gateway's sentence in English", () => {
  overwriteGetLocale(() => 'en');
  expect(textOf('CONFLICT', 'The name is taken.')).toBe('The name is taken.');
});

it('says in German what a code means, and keeps what only the gateway knows', () => {
  overwriteGetLocale(() => 'de');
  expect(textOf('AUTH_NOT_AUTHENTICATED', 'Authentication is required.')).toBe('Sie sind nicht angemeldet.');
  expect(textOf('CONFLICT', 'The name is taken.')).toBe('Der jetzige Zustand lässt das nicht zu. (The name is taken.)');
  expect(textOf('RATE_LIMITED', 'Wait.', { retry_after_seconds: 90 })).toContain('Zu viele Anfragen');
  expect(textOf('RATE_LIMITED', 'Wait.', { retry_after_seconds: 1 })).toContain('in 1 Sekunde noch einmal');
  expect(textOf('UNKNOWN_CODE', 'Something new.')).toBe('Something new.');
  // The page's own errors are translated already.
  expect(textOf('OFFLINE', 'Keine Verbindung.')).toBe('Keine Verbindung.');
});
