import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * Answers questions about java.util.regex, one per line of standard input:
 * an operation, the flags, the expression and the text (both in Base64), and
 * an offset, separated by blanks. One line of answer each: "refused",
 * "undecided", "no", or "yes" followed by positions in bytes of UTF-8.
 */
public class Reference {
    /** A text that gives up once it has been looked at too often. */
    record Budgeted(String text, long[] left) implements CharSequence {
        public int length() {
            return text.length();
        }

        public char charAt(int index) {
            if (left[0]-- <= 0) {
                throw new IllegalStateException("budget used up");
            }
            return text.charAt(index);
        }

        public CharSequence subSequence(int start, int end) {
            return text.substring(start, end);
        }

        public String toString() {
            return text;
        }
    }

    static int bytesBefore(String text, int index) {
        return text.substring(0, index).getBytes(StandardCharsets.UTF_8).length;
    }

    static String decoded(String word) {
        return new String(Base64.getDecoder().decode(word.substring(1)), StandardCharsets.UTF_8);
    }

    static String groups(Matcher matcher, String text) {
        StringBuilder out = new StringBuilder("yes");
        for (int group = 0; group <= matcher.groupCount(); group++) {
            for (int at : new int[] {matcher.start(group), matcher.end(group)}) {
                out.append(' ').append(at < 0 ? -1 : bytesBefore(text, at));
            }
        }
        return out.toString();
    }

    /** Beyond this there are Han characters and little else. */
    static final int LAST_POINT = 0x1FFFF;

    static String members(Pattern pattern) {
        StringBuilder out = new StringBuilder("yes");
        int start = -1;
        for (int point = 0; point <= LAST_POINT + 1; point++) {
            boolean member = point <= LAST_POINT
                    && pattern.matcher(new String(Character.toChars(point))).matches();
            if (member && start < 0) {
                start = point;
            } else if (!member && start >= 0) {
                out.append(' ').append(start).append(' ').append(point - 1);
                start = -1;
            }
        }
        return out.toString();
    }

    static String answer(String[] words) {
        Pattern pattern;
        try {
            pattern = Pattern.compile(decoded(words[2]), Integer.parseInt(words[1]));
        } catch (PatternSyntaxException e) {
            return "refused";
        }
        String text = decoded(words[3]);
        Matcher matcher = pattern.matcher(new Budgeted(text, new long[] {2_000_000}));
        switch (words[0]) {
            case "match":
                return matcher.matches() ? groups(matcher, text) : "no";
            case "find":
                int offset = Integer.parseInt(words[4]);
                return matcher.find(offset) ? groups(matcher, text) : "no";
            case "split":
                StringBuilder out = new StringBuilder("yes");
                for (String piece : pattern.split(new Budgeted(text, new long[] {2_000_000}))) {
                    out.append(" =").append(Base64.getEncoder().encodeToString(piece.getBytes(StandardCharsets.UTF_8)));
                }
                return out.toString();
            default:
                return members(pattern);
        }
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String result;
            try {
                result = answer(line.split(" "));
            } catch (StackOverflowError | RuntimeException e) {
                result = "undecided";
            }
            out.println(result);
        }
        out.flush();
    }
}
