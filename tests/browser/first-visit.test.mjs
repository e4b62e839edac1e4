// A first visit, from this machine and from elsewhere, and what follows: passkey, logout, restart.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { violations } from './axe.mjs';
import { Gateway, launch, openPage } from './gateway.mjs';

const PASSWORD = 'correct horse battery staple';
let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser.close(); });

const fillPasswords = async (page) => {
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByLabel('Confirm password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Set password' }).click();
};

const storeRecoveryKey = async (page) => {
  await page.getByText(/^([A-Z2-9]{4}-){7}[A-Z2-9]{4}$/).waitFor();
  await page.getByLabel('I stored it').check();
  await page.getByRole('button', { name: 'Continue' }).click();
};

const isLive = (page) => page.getByText('Live', { exact: true }).waitFor();

test('local: password, passkey, logout, passkey login, restart, login unseals', async () => {
  const gateway = await Gateway.start();
  const { page, complaints, presence } = await openPage(browser, gateway.origin);
  await page.goto(`${gateway.origin}/onboarding`);
  await fillPasswords(page);
  await storeRecoveryKey(page);
  await page.getByText('You are set up').waitFor();
  await page.getByRole('button', { name: 'Add a passkey too' }).click();
  await page.getByText('Passkey added').waitFor();
  await page.getByRole('link', { name: 'Go on' }).click();
  await isLive(page);
  await page.locator('#vault').getByText('Open. Stored secrets are encrypted').waitFor();
  assert.deepEqual(await violations(page), []);

  // Nobody touches the authenticator until the button is there: else autofill logs in at once.
  await presence(false);
  await page.getByRole('button', { name: 'Log out', exact: true }).click();
  const byPasskey = page.getByRole('button', { name: 'Log in with a passkey' });
  await byPasskey.waitFor();
  await presence(true);
  await byPasskey.click();
  await isLive(page);

  await gateway.restart();
  await page.locator('#vault').getByText('Sealed. Stored secrets cannot be read').waitFor();
  await presence(false);
  await page.context().clearCookies();
  await page.goto(`${gateway.origin}/some/place?x=1`);
  const password = page.getByLabel('Password', { exact: true });
  await password.fill('wrong password here');
  await password.press('Enter');
  await page.locator('[role=alert]:visible').first().waitFor();
  await password.fill(PASSWORD);
  await password.press('Enter');
  await page.getByRole('heading', { name: 'Log in to Gatehouse' }).waitFor({ state: 'detached' });
  assert.equal(page.url(), `${gateway.origin}/some/place?x=1`);
  await page.goto(`${gateway.origin}/`);
  await page.locator('#vault').getByText('Open. Stored secrets are encrypted').waitFor();
  assert.deepEqual(complaints, []);
  await page.context().close();
  await gateway.remove();
});

test('remote: the setup code is asked for, and a wrong one refused', async () => {
  const gateway = await Gateway.start({ SERVICE_BEHIND_PROXY: 'true' });
  const { page, complaints } = await openPage(browser, gateway.origin);
  await page.goto(`${gateway.origin}/`);
  await page.waitForURL('**/onboarding');
  const wrong = gateway.setupCode === '000000' ? '000001' : '000000';
  await page.getByLabel('Setup code').fill(wrong);
  await fillPasswords(page);
  await page.getByText('setup code is wrong').waitFor();
  assert.deepEqual(await violations(page), []);
  await page.getByLabel('Setup code').fill(gateway.setupCode);
  await page.getByRole('button', { name: 'Set password' }).click();
  await storeRecoveryKey(page);
  await page.getByRole('link', { name: 'Go on' }).click();
  await isLive(page);
  assert.deepEqual(complaints, []);
  await page.context().close();
  await gateway.remove();
});

test('a session that is revoked elsewhere logs this window out', async () => {
  const gateway = await Gateway.start();
  const first = await openPage(browser, gateway.origin);
  await first.page.goto(`${gateway.origin}/onboarding`);
  await fillPasswords(first.page);
  await storeRecoveryKey(first.page);
  await first.page.getByRole('link', { name: 'Go on' }).click();
  await isLive(first.page);
  const second = await openPage(browser, gateway.origin);
  await second.page.goto(`${gateway.origin}/`);
  await second.page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await second.page.getByLabel('Password', { exact: true }).press('Enter');
  await isLive(second.page);
  await second.page.getByRole('button', { name: 'Log out the others…' }).click();
  await second.page.getByRole('button', { name: 'Log them out' }).click();
  await first.page.getByRole('heading', { name: 'Log in to Gatehouse' }).waitFor();
  assert.deepEqual([...first.complaints, ...second.complaints], []);
  await first.page.context().close();
  await second.page.context().close();
  await gateway.remove();
});
