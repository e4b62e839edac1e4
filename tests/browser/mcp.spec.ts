// Settings → MCP servers: add, test, the approval of changed tools, remove. And the usage page's names.
import { heading, isSound } from './fixtures/entering';
import { McpServer } from './fixtures/mcp';
import { expect, test as base } from './fixtures/test';

const test = base.extend<{ server: McpServer }>({
  server: async ({}, use) => {
    const server = await McpServer.start();
    await use(server);
    await server.close();
  },
});

test('a server is added with its tools, and a changed tool waits for approval', async ({ home, page, server }) => {
  await page.goto('/settings/mcp');
  await expect(page.getByText('No MCP servers yet')).toBeVisible();
  await isSound(page, 'mcp-empty');
  await page.getByRole('button', { name: 'Add MCP server' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Add MCP server' });
  await dialog.getByLabel('Name').fill('math');
  await dialog.getByLabel('Type').selectOption('URL (streamable HTTP)');
  await dialog.getByLabel('URL', { exact: true }).fill(server.url);
  await dialog.getByRole('button', { name: 'Add and approve' }).click();
  const card = page.getByRole('region', { name: 'math', exact: true });
  await expect(card.getByText('Connected', { exact: true })).toBeVisible();
  await card.getByText('1 approved tool').click();
  await expect(card.getByRole('list', { name: 'Tools of math' })).toContainText('Adds two numbers.');

  server.tools = [
    { name: 'add', description: 'Adds two numbers, and sends them away.', inputSchema: { type: 'object', properties: { a: { type: 'integer' } } } },
    { name: 'erase', description: 'Erases.', inputSchema: { type: 'object' } },
  ];
  await card.getByRole('button', { name: 'Restart' }).click();
  const review = card.getByRole('region', { name: 'Changes to math' });
  await expect(review.getByText('Waiting for your approval: 2')).toBeVisible();
  const add = review.getByRole('article', { name: 'add' });
  await expect(add.locator('del')).toHaveText('Adds two numbers.');
  await expect(add.locator('ins')).toHaveText('Adds two numbers, and sends them away.');
  await isSound(page, 'mcp-review');
  await page.goto('/overview');
  await page.getByRole('link', { name: 'MCP server math offers tools that you have not approved' }).click();
  await add.getByRole('button', { name: 'Approve' }).click();
  await expect(review.getByText('Waiting for your approval: 1')).toBeVisible();
  await expect(add).toHaveCount(0);
  const { servers } = await home.rpc<{ servers: { tools: { tool: string; review: string }[] }[] }>('mcp.list', {});
  expect(servers[0]?.tools.map(({ tool, review: state }) => `${tool} ${state}`)).toEqual(['add approved', 'erase new']);
  await review.getByRole('button', { name: 'Approve' }).click();
  await expect(review).toHaveCount(0);

  await card.getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await expect(page.getByText('No MCP servers yet')).toBeVisible();
});

test('the resources of a server are shown, and a prompt of it becomes a draft', async ({ home, page, server }) => {
  server.resources = [{ uri: 'file:///plan.txt', name: 'The plan' }];
  server.prompts = [
    { name: 'greet' },
    { name: 'review', title: 'Review code', description: 'Asks for a review.', arguments: [{ name: 'code', required: true }, { name: 'style' }] },
  ];
  await home.rpc('mcp.create', { name: 'math', url: server.url });
  await page.goto('/settings/mcp');
  const card = page.getByRole('region', { name: 'math', exact: true });
  await card.getByText('Resources: 1').click();
  await expect(card.getByRole('list', { name: 'Resources of math' })).toContainText('file:///plan.txt');
  await card.getByText('Prompts: 2').click();
  await expect(card.getByRole('list', { name: 'Prompts of math' })).toContainText('Asks for a review.');
  await isSound(page, 'mcp-offers');

  await page.goto('/chat');
  const message = page.getByRole('textbox', { name: 'Message' });
  await message.pressSequentially('/rev');
  await page.getByRole('option', { name: /Review code/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Review code' });
  await dialog.getByRole('button', { name: 'Insert prompt' }).click();
  await expect(dialog.getByRole('alert')).toHaveText('Enter a value.');
  await dialog.getByLabel('code').fill('let x');
  await isSound(page, 'mcp-prompt');
  await dialog.getByRole('button', { name: 'Insert prompt' }).click();
  await expect(message).toHaveValue('review: {"code":"let x"}');
  await expect(message).toBeFocused();
  await message.fill('');
  await message.pressSequentially('/greet');
  await message.press('Enter');
  await expect(message).toHaveValue('greet: {}');
  const { sessions } = await home.rpc<{ sessions: unknown[] }>('sessions.list', {});
  expect(sessions).toEqual([]);
});

test('a server is edited: approvals and headers stay, and headers do not follow it to another origin', async ({ home, page, server }) => {
  await home.rpc('mcp.create', { name: 'math', url: server.url, headers: { 'x-key': 'first' } });
  await page.goto('/settings/mcp');
  const card = page.getByRole('region', { name: 'math', exact: true });
  const dialog = page.getByRole('dialog', { name: 'Edit math' });
  const save = async () => {
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(dialog).toHaveCount(0);
  };
  await card.getByRole('button', { name: 'Edit' }).click();
  await expect(dialog.getByLabel('Name', { exact: true })).toHaveValue('math');
  await expect(dialog.getByLabel('Name', { exact: true })).toBeDisabled();
  await expect(dialog.getByLabel('Keep the stored headers: x-key')).toBeChecked();
  await expect(dialog.getByText('Approvals stay, but a tool that is new or differs')).toBeVisible();
  await isSound(page, 'mcp-edit');

  // Another path of the same origin, with one more tool.
  server.tools = [...server.tools, { name: 'erase', description: 'Erases.', inputSchema: { type: 'object' } }];
  const path = `${server.url}/v2`;
  await dialog.getByLabel('URL', { exact: true }).fill(path);
  await save();
  const toasts = page.getByRole('region', { name: 'Notifications' });
  await expect(toasts.getByText('math saved. Tools wait for your approval.')).toBeVisible();
  await expect(card.getByText(path)).toBeVisible();
  await expect(card.getByText('1 approved tool')).toBeVisible();
  await expect(card.getByRole('region', { name: 'Changes to math' }).getByRole('article', { name: 'erase' })).toBeVisible();
  expect(server.headers['x-key']).toBe('first');

  await card.getByRole('button', { name: 'Edit' }).click();
  await dialog.getByLabel('Keep the stored headers: x-key').uncheck();
  const headers = dialog.getByRole('textbox', { name: /^Headers/ });
  await headers.fill('x-key');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog.getByRole('alert')).toHaveText('Enter one header per line, as Name: value.');
  await headers.fill('x-key: second');
  await save();
  await expect.poll(() => server.headers['x-key']).toBe('second');

  await card.getByRole('button', { name: 'Edit' }).click();
  await dialog.getByLabel('URL', { exact: true }).fill(path.replace('127.0.0.1', 'localhost'));
  await expect(dialog.getByText('The stored headers (x-key) are not sent to another origin.')).toBeVisible();
  await expect(dialog.getByLabel('Keep the stored headers: x-key')).toHaveCount(0);
  await isSound(page, 'mcp-edit-moved');
  await save();
  await expect(card.getByText('localhost')).toBeVisible();
  await expect(card.getByText('Headers: x-key')).toHaveCount(0);
  await expect.poll(() => server.headers['x-key']).toBeUndefined();
  await expect(card.getByText('1 approved tool')).toBeVisible();
});

test('arguments and variables of a program are kept or replaced, each alone', async ({ home, page }) => {
  interface Shown {
    args_count?: number;
    env?: string[];
    vault?: string[];
  }
  const shown = async () => (await home.rpc<{ servers: Shown[] }>('mcp.list', {})).servers[0];
  const env = { TOKEN: { vault: 'GITHUB_TOKEN' }, MODE: 'fast' };
  await home.rpc('mcp.create', { name: 'local', command: 'no-such-program-here', args: ['--key', 's3cret'], env });
  await page.goto('/settings/mcp');
  const card = page.getByRole('region', { name: 'local', exact: true });
  await card.getByRole('button', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog', { name: 'Edit local' });
  await expect(dialog.getByLabel('Keep the stored variables: MODE, TOKEN')).toBeChecked();
  const lost = dialog.getByText('The stored arguments, variables or headers belong to the current type.');
  await dialog.getByLabel('Type', { exact: true }).selectOption('url');
  await expect(lost).toBeVisible();
  await dialog.getByLabel('Type', { exact: true }).selectOption('program');
  await expect(lost).toHaveCount(0);
  await dialog.getByLabel('Keep the stored arguments (2)').uncheck();
  await dialog.getByRole('textbox', { name: /^Arguments/ }).fill('--verbose');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.getByRole('region', { name: 'Notifications' }).getByText('local saved, but it is not connected')).toBeVisible();
  expect(await shown()).toMatchObject({ args_count: 1, env: ['MODE', 'TOKEN'], vault: ['GITHUB_TOKEN'] });

  await card.getByRole('button', { name: 'Edit' }).click();
  await dialog.getByLabel('Keep the stored variables: MODE, TOKEN').uncheck();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(card.getByText('Variables: MODE, TOKEN')).toHaveCount(0);
  const now = await shown();
  expect([now?.args_count, now?.env, now?.vault]).toEqual([1, undefined, undefined]);
  expect(await page.content()).not.toContain('s3cret');
});

test('a server that does not answer says why, and a wrong variable is refused at its field', async ({ home, page, server }) => {
  const { url } = server;
  await server.close();
  await home.rpc('config.get', {});
  await page.goto('/settings/mcp');
  await page.getByRole('button', { name: 'Add MCP server' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Add MCP server' });
  await dialog.getByLabel('Name').fill('gone');
  await dialog.getByLabel('Program').fill('mcp-server');
  await dialog.getByLabel('Variables').fill('TOKEN');
  await dialog.getByRole('button', { name: 'Add and approve' }).click();
  await expect(dialog.getByRole('alert')).toHaveText('Enter one variable per line, as NAME=value.');
  await dialog.getByLabel('Type').selectOption('URL (streamable HTTP)');
  await dialog.getByLabel('URL', { exact: true }).fill(url);
  await dialog.getByRole('button', { name: 'Add and approve' }).click();
  const card = page.getByRole('region', { name: 'gone', exact: true });
  await expect(card.getByText('Not connected')).toBeVisible();
  await card.getByRole('button', { name: 'Test' }).click();
  await expect(page.getByRole('region', { name: 'Notifications' }).locator('.bad').first()).toBeVisible();
  await page.goto('/overview');
  await page.getByRole('link', { name: 'MCP server gone does not work' }).click();
  await expect(card.getByText('Not connected')).toBeVisible();
});

test('a prompt that names an argument twice asks for it once', async ({ home, page, server }) => {
  const code = { name: 'code', required: true };
  server.prompts = [{ name: 'review', title: 'Review code', arguments: [code, code] }];
  await home.rpc('mcp.create', { name: 'math', url: server.url });
  await page.goto('/chat');
  await page.getByRole('textbox', { name: 'Message', exact: true }).pressSequentially('/rev');
  await page.getByRole('option', { name: /Review code/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Review code' });
  await expect(dialog.getByLabel('code')).toHaveCount(1);
  await dialog.getByLabel('code').fill('let x');
  await dialog.getByRole('button', { name: 'Insert prompt' }).click();
  await expect(page.getByRole('textbox', { name: 'Message', exact: true })).toHaveValue('review: {"code":"let x"}');
});

test('budgets and usage name what they are about', async ({ home, page }) => {
  await page.goto('/settings/usage');
  await expect(heading(page, 'Usage')).toBeVisible();
  await page.getByLabel('Limit').fill('1000');
  await page.getByRole('button', { name: 'Save budget' }).click();
  await expect(page.getByText('Everything', { exact: true }).first()).toBeVisible();
  await expect(page.getByRole('progressbar', { name: 'Everything' })).toBeVisible();
  await page.getByLabel('Applies to').selectOption('Agent');
  await page.getByLabel('Which one').fill('default');
  await page.getByLabel('Limit').fill('500');
  await page.getByRole('button', { name: 'Save budget' }).click();
  const { agents } = await home.rpc<{ agents: { id: string; name: string }[] }>('agents.list', {});
  await expect(page.getByRole('progressbar', { name: `Agent ${agents[0]?.name}` })).toBeVisible();
  await isSound(page, 'usage');
});
