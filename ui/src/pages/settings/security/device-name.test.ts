import { expect, test } from 'vitest';
import { deviceName, isHandheld } from './device-name';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0';
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1';

test('browsers have names in words', () => {
  expect(deviceName(FIREFOX)).toBe('Firefox on Linux');
  expect(deviceName(IPHONE)).toBe('Safari on iOS');
  expect(isHandheld(IPHONE)).toBe(true);
  expect(isHandheld(FIREFOX)).toBe(false);
});

test('what is not recognised is shown as it came', () => {
  expect(deviceName('curl/8.5.0')).toBe('curl/8.5.0');
  expect(deviceName('')).toBe('Unknown device');
  expect(isHandheld('')).toBe(false);
});
