// Settings → Security: passkeys and the password: add, change, remove, and the only way to log in.
import { dialog, elsewhere, section, notification } from './fixtures/security';
import { authenticator, expect, PASSWORD, test, watch } from './fixtures/test';

test('a passkey is added, renamed, used to log in, and removed', async ({ home, page, context }) => {
  const device = await authenticator(page);
  await page.goto('/settings/security');
  const passkeys = section(page, 'Passkeys');
  await passkeys.getByRole('button', { name: 'Add a passkey' }).click();
  await expect(dialog(page).getByLabel('Name')).toHaveValue('Linux');
  await dialog(page).getByLabel('Name').fill(' ');
  await dialog(page).getByRole('button', { name: 'Continue' }).click();
  await expect(dialog(page).getByRole('alert')).toHaveText('Enter a name.');
  await expect(dialog(page).getByLabel('Name')).toBeFocused();
  await dialog(page).getByLabel('Name').fill('Work laptop');
  await dialog(page).getByRole('button', { name: 'Continue' }).click();
  await expect(passkeys.getByText('Work laptop', { exact: true })).toBeVisible();

  // The same device again: the browser refuses, and the page explains why.
  await passkeys.getByRole('button', { name: 'Add a passkey' }).click();
  await dialog(page).getByLabel('Name').fill('Again');
  await dialog(page).getByRole('button', { name: 'Continue' }).click();
  await expect(dialog(page).getByRole('alert')).toContainText('already has a passkey');
  await page.keyboard.press('Escape');

  await passkeys.getByRole('button', { name: 'Actions for Work laptop' }).click();
  await page.getByRole('menuitem', { name: 'Rename' }).click();
  await dialog(page).getByLabel('Name').fill('Old laptop');
  await dialog(page).getByRole('button', { name: 'Rename' }).click();
  await expect(passkeys.getByText('Old laptop', { exact: true })).toBeVisible();

  // Untouched at first; otherwise autofill would log in before the button is pressed.
  await device.presence(false);
  await context.clearCookies();
  await page.goto('/settings/security');
  const byPasskey = page.getByRole('button', { name: 'Log in with a passkey' });
  await byPasskey.waitFor();
  await device.presence(true);
  // Autofill may accept the passkey before the click; that is a login as well.
  await byPasskey.click({ timeout: 5_000 }).catch(() => undefined);
  await expect(page.getByRole('heading', { name: 'Security' })).toBeVisible();
  await expect(section(page, 'Sessions').getByRole('listitem').filter({ hasText: 'This device' })).toContainText(
    'with a passkey',
  );

  await passkeys.getByRole('button', { name: 'Actions for Old laptop' }).click();
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  await dialog(page).getByRole('button', { name: 'Remove' }).click();
  await expect(passkeys.getByText('No passkeys yet')).toBeVisible();
  expect((await home.call<{ passkeys: unknown[] }>('GET', '/api/auth/passkeys')).passkeys).toEqual([]);
});

test('an address that does not support passkeys says so', async ({ home, page, context, complaints }) => {
  const numbers = `http://127.0.0.1:${home.port}`;
  watch(context, numbers, complaints);
  complaints.allow(new RegExp(`left the origin: (http|ws)://127.0.0.1:${home.port}`));
  const [name = '', value = ''] = home.cookie.split('=');
  await context.addCookies([{ name, value, url: numbers, httpOnly: true, sameSite: 'Strict' }]);
  await page.goto(`${numbers}/settings/security`);
  const passkeys = section(page, 'Passkeys');
  await expect(passkeys.getByRole('link', { name: /localhost/ })).toBeVisible();
  await expect(passkeys.getByRole('button', { name: 'Add a passkey' })).toHaveCount(0);
});

test('the only passkey cannot be removed; the first password creates the vault', async ({ gateway, page }) => {
  await authenticator(page);
  // Setup with only a passkey, through the WebAuthn ceremony.
  await page.goto('/');
  await page.evaluate(async () => {
    const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`/api/auth/passkey/register/${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      return (await response.json()) as Record<string, unknown>;
    };
    const begun = await post('begin', {});
    const { publicKey } = begun.options as { publicKey: PublicKeyCredentialCreationOptionsJSON };
    const credential = (await navigator.credentials.create({
      publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(publicKey),
    })) as PublicKeyCredential;
    await post('finish', { challenge_id: begun.challenge_id, name: 'Only one', credential: credential.toJSON() });
  });
  await page.goto('/settings/security');
  const passkeys = section(page, 'Passkeys');
  await expect(passkeys.getByText('Only way in', { exact: true })).toBeVisible();
  await expect(passkeys.getByText('You cannot remove your only way in.')).toBeVisible();
  await passkeys.getByRole('button', { name: 'Actions for Only one' }).click();
  await expect(page.getByRole('menuitem', { name: 'Remove' })).toBeDisabled();
  await page.keyboard.press('Escape');

  await section(page, 'Password').getByRole('button', { name: 'Set a password' }).click();
  await dialog(page).getByRole('textbox', { name: 'Password', exact: true }).fill(PASSWORD);
  await dialog(page).getByLabel('Confirm password', { exact: true }).fill(PASSWORD);
  await dialog(page).getByRole('button', { name: 'Set a password' }).click();
  const shown = dialog(page).getByText(/^([A-Z2-9]{4}-){7}[A-Z2-9]{4}$/);
  await expect(shown).toBeVisible();
  // Escape does not close it; only the confirmation does.
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await expect(shown).toBeVisible();
  await dialog(page).getByLabel('I’ve saved it').check();
  await dialog(page).getByRole('button', { name: 'Done' }).click();
  await expect(section(page, 'Password').getByRole('button', { name: 'Change password' })).toBeVisible();
  await expect(passkeys.getByText('Only way in', { exact: true })).toHaveCount(0);
  expect((await gateway.call<{ status: string }>('GET', '/api/auth/vault/status')).status).toBe('unsealed');
});

test('the password is changed: rules are shown while typing, and other sessions end', async ({ home, page, browser, complaints }) => {
  const [other, otherPage] = await elsewhere(browser, home, complaints);
  await otherPage.goto('/settings/security');
  await expect(otherPage.getByRole('heading', { name: 'Sessions' })).toBeVisible();
  await page.goto('/settings/security');
  await section(page, 'Password').getByRole('button', { name: 'Change password' }).click();
  await expect(dialog(page)).toContainText('The other session ends');
  const rules = dialog(page).getByRole('list', { name: 'Password requirements' });
  const action = dialog(page).getByRole('button', { name: 'Change password' });
  await dialog(page).getByLabel('Current password', { exact: true }).fill('not the password');
  await dialog(page).getByLabel('New password', { exact: true }).fill('too short');
  await expect(rules.getByText('(3 to go)')).toBeVisible();
  await expect(action).toBeDisabled();
  await dialog(page).getByLabel('New password', { exact: true }).fill('another long password');
  await dialog(page).getByLabel('Confirm new password', { exact: true }).fill('another long password');
  await action.click();
  await expect(dialog(page).getByRole('alert')).toHaveText('Incorrect current password.');
  await expect(dialog(page).getByLabel('Current password', { exact: true })).toBeFocused();
  await dialog(page).getByLabel('Current password', { exact: true }).fill(PASSWORD);
  await action.click();
  await expect(notification(page, 'Password changed')).toBeVisible();
  // The other window shows the login without navigating.
  await expect(otherPage.getByRole('heading', { name: 'Sessions' })).toHaveCount(0);
  await expect(otherPage.getByRole('textbox', { name: 'Password', exact: true })).toBeVisible();
  const login = (password: string) => other.request.post(`${home.origin}/api/auth/login`, { data: { password } });
  expect((await login(PASSWORD)).status()).toBe(401);
  expect((await login('another long password')).status()).toBe(200);
  await other.close();
});
