import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.eclipse.ptp.proxy.event.IProxyEvent;
import org.eclipse.ptp.proxy.runtime.client.AbstractProxyRuntimeClient;
import org.eclipse.ptp.proxy.runtime.client.IProxyRuntimeEventListener;

/**
 * Drives the original client with an agent, the command of the arguments. Each line of standard
 * input is a command with tabs between its words: start, stop, submit ATTRIBUTE..., terminate ID,
 * quit. Each line of standard output is an event: its class and attributes, with tabs between.
 */
public class Client extends AbstractProxyRuntimeClient {
	private static final int BASE_ID = 1 << 24;

	private Client() {
		super("test", BASE_ID);
	}

	public static void main(String[] agent) throws Exception {
		Client client = new Client();
		client.addProxyRuntimeEventListener((IProxyRuntimeEventListener) Proxy.newProxyInstance(Client.class.getClassLoader(),
				new Class<?>[] { IProxyRuntimeEventListener.class }, (self, method, arguments) -> {
					if (method.getName().equals("handleEvent")) {
						print((IProxyEvent) arguments[0]);
						return null;
					}
					return method.getName().equals("equals") ? self == arguments[0] : System.identityHashCode(self);
				}));
		client.sessionCreate();
		client.startup();
		List<String> command = new ArrayList<>(Arrays.asList(agent));
		command.addAll(Arrays.asList("--proxy=tcp", "--host=localhost", "--port=" + client.getSessionPort()));
		Process process = new ProcessBuilder(command).redirectInput(ProcessBuilder.Redirect.PIPE)
				.redirectOutput(ProcessBuilder.Redirect.DISCARD).redirectError(ProcessBuilder.Redirect.INHERIT).start();
		Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
		BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
		for (String line = input.readLine(); line != null; line = input.readLine()) {
			client.perform(line.split("\t"));
		}
		System.out.println("agent exited with code " + process.waitFor());
		System.exit(0);
	}

	private void perform(String[] words) throws IOException {
		switch (words[0]) {
		case "start":
			startEvents();
			break;
		case "stop":
			stopEvents();
			break;
		case "submit":
			submitJob(Arrays.copyOfRange(words, 1, words.length));
			break;
		case "terminate":
			terminateJob(words[1]);
			break;
		case "quit":
			shutdown();
			sessionFinish();
			break;
		default:
			throw new IllegalArgumentException(words[0]);
		}
	}

	private static synchronized void print(IProxyEvent event) {
		StringBuilder line = new StringBuilder(event.getClass().getSimpleName());
		String[] attributes = event.getAttributes();
		for (String attribute : attributes == null ? new String[0] : attributes) {
			line.append('\t').append(attribute.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t"));
		}
		System.out.println(line);
	}
}
