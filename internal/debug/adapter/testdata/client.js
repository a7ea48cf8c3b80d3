// client.js ADAPTER PROGRAM SOURCE LINE: debugs four ranks of a program with the client that Microsoft tests adapters with.
'use strict';
const assert = require('assert');
const { DebugClient } = require('@vscode/debugadapter-testsupport');

async function main([adapter, program, source, line]) {
	const location = { path: source, line: Number(line), verified: false }; // the program has not started then
	const client = new DebugClient(adapter, 'serve-editor', 'rmctl');
	client.defaultTimeout = 20000;
	await client.start();
	const stops = [];
	client.on('stopped', event => stops.push(event.body.threadId));
	await client.hitBreakpoint({ program, processes: 4 }, location);
	while (stops.length < 4) {
		await client.waitForEvent('stopped');
	}
	const { threads } = (await client.threadsRequest()).body;
	assert.deepStrictEqual(threads.map(each => each.name), ['rank 0', 'rank 1', 'rank 2', 'rank 3']);

	const { stackFrames } = (await client.stackTraceRequest({ threadId: 4 })).body;
	assert.deepStrictEqual(stackFrames.map(each => each.name), ['relax', 'main']);
	const frameId = stackFrames[0].id;
	const { scopes } = (await client.scopesRequest({ frameId })).body;
	const { variables } = (await client.variablesRequest({ variablesReference: scopes[1].variablesReference })).body;
	assert.deepStrictEqual(variables.map(each => each.name), ['g', 'rank', 'sweep']);
	assert.strictEqual(variables[1].value, '3');
	assert.strictEqual((await client.evaluateRequest({ expression: 'rank * 2', frameId })).body.result, '6');
	await client.setVariableRequest({ variablesReference: scopes[0].variablesReference, name: 'sum', value: '40' });

	await Promise.all([client.stepOutRequest({ threadId: 4 }), client.assertStoppedLocation('step', { path: source })]);
	await assert.rejects(client.scopesRequest({ frameId }), /the ranks have run since/);

	await client.setBreakpointsRequest({ source: { path: source }, breakpoints: [] });
	const exited = client.waitForEvent('exited');
	await Promise.all([1, 2, 3, 4].map(threadId => client.continueRequest({ threadId })).concat(client.waitForEvent('terminated')));
	assert.strictEqual((await exited).body.exitCode, 7);
	await client.stop();
}

main(process.argv.slice(2)).catch(error => {
	console.error(error);
	process.exit(1);
});
